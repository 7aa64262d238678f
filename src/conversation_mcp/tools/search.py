"""The tool `search`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import SearchInput, ask_of, with_next_step
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.tooling.tool import ASKS, Tool
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult


async def search(given: SearchInput, app: App, caller: Caller) -> TurnResult:
    """Open a conversation with a quick search."""
    ask = ask_of(given, tool="search", mode="search", preset=app.settings.search_preset)
    return await with_next_step(await app.turns.start(ask, caller), app, "search")


SEARCH = Tool(
    name="search",
    run=search,
    render=render_turn,
    input_model=SearchInput,
    title="Search",
    description=(
        "Ask a question that a quick search answers, with numbered sources. Opens a conversation, kept on disk as "
        "conversation.json; continue it with search_followup or deep_research_followup and the conversationId "
        "returned. For a thorough report use deep_research."
    ),
    hints=ASKS,
)
