"""The tool `deep_research_followup`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import AskingTool, FollowupInput, ResearchInput, ask_of, put_question
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult


class ResearchFollowupInput(FollowupInput, ResearchInput):
    """A question for deep research in a conversation."""


async def deep_research_followup(given: ResearchFollowupInput, app: App, caller: Caller) -> TurnResult:
    """Continue a conversation with deep research on a question."""
    return await put_question(
        ask_of(DEEP_RESEARCH_FOLLOWUP, given, app.settings.deep_research_followup_preset),
        app,
        caller,
        given.conversation_id,
    )


DEEP_RESEARCH_FOLLOWUP = AskingTool(
    name="deep_research_followup",
    mode="deep_research",
    follows=True,
    run=deep_research_followup,
    input_model=ResearchFollowupInput,
    title="Deep research: follow up",
    description=(
        "Ask the next question of any stored conversation with a thorough research. All earlier questions and "
        "answers are sent along. Filters as in search."
    ),
)
