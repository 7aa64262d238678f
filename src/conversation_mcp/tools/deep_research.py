"""The tool `deep_research`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import ResearchInput, ask_of, with_next_step
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.tooling.tool import ASKS, Tool
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult


async def deep_research(given: ResearchInput, app: App, caller: Caller) -> TurnResult:
    """Open a conversation with a thorough research."""
    ask = ask_of(given, tool="deep_research", mode="deep_research", preset=app.settings.deep_research_preset)
    return await with_next_step(await app.turns.start(ask, caller), app, "deep_research")


DEEP_RESEARCH = Tool(
    name="deep_research",
    run=deep_research,
    render=render_turn,
    input_model=ResearchInput,
    title="Deep research",
    description=(
        "Research a question thoroughly: many sources, a long report, minutes, and more cost than search. Opens a "
        "conversation like search does. Returns status running when it takes long; the answer is kept. Filters as "
        "in search."
    ),
    hints=ASKS,
)
