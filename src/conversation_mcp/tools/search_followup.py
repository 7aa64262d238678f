"""The tool `search_followup`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import AskingTool, FollowupInput, SearchInput, ask_of, put_question
from conversation_mcp.tooling.sent_along import AttachedArguments
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult


class SearchFollowupInput(FollowupInput, SearchInput):
    """A question for a search in a conversation."""


async def search_followup(given: SearchFollowupInput, app: App, caller: Caller) -> TurnResult:
    """Continue a conversation with a quick search."""
    return await put_question(
        ask_of(SEARCH_FOLLOWUP, given, app.settings.search_followup_preset), app, caller, given.conversation_id
    )


SEARCH_FOLLOWUP = AskingTool(
    name="search_followup",
    mode="search",
    follows=True,
    describes=frozenset({AttachedArguments}),
    run=search_followup,
    input_model=SearchFollowupInput,
    title="Search: follow up",
    description=(
        "Ask the next question of any stored conversation with a quick search. All earlier questions and answers "
        "are sent along, so ask only what is new. Filters as in search."
    ),
)
