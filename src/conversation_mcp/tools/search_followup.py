"""The tool `search_followup`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import ConversationIdArgument, SearchInput, ask_of, with_next_step
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.tooling.tool import ASKS, Tool
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult


class SearchFollowupInput(SearchInput):
    """A question for a search in a conversation."""

    conversation_id: ConversationIdArgument


async def search_followup(given: SearchFollowupInput, app: App, caller: Caller) -> TurnResult:
    """Continue a conversation with a quick search."""
    ask = ask_of(given, tool="search_followup", mode="search", preset=app.settings.search_followup_preset)
    return await with_next_step(await app.turns.follow_up(given.conversation_id, ask, caller), app, "search_followup")


SEARCH_FOLLOWUP = Tool(
    name="search_followup",
    run=search_followup,
    render=render_turn,
    input_model=SearchFollowupInput,
    title="Search: follow up",
    description=(
        "Ask the next question of any stored conversation with a quick search. All earlier questions and answers "
        "are sent along, so ask only what is new. Filters as in search."
    ),
    hints=ASKS,
)
