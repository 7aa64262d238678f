"""The tool `deep_research`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import AskingTool, ResearchInput, ask_of, put_question
from conversation_mcp.tooling.sent_along import Continuing
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult


class ResearchStartInput(Continuing, ResearchInput):
    """A question for deep research that opens a conversation."""


async def deep_research(given: ResearchStartInput, app: App, caller: Caller) -> TurnResult:
    """Open a conversation with deep research on a question."""
    return await put_question(ask_of(DEEP_RESEARCH, given, app.settings.deep_research_preset), app, caller)


DEEP_RESEARCH = AskingTool(
    name="deep_research",
    mode="deep_research",
    opens=True,
    run=deep_research,
    input_model=ResearchStartInput,
    title="Deep research",
    description=(
        "Research a question thoroughly: many sources, a long report, minutes, and more cost than search. Opens a "
        "conversation like search does. Returns status running when it takes long; the answer is kept. Filters as "
        "in search."
    ),
)
