"""The tool `search`."""

from conversation_mcp.app import App
from conversation_mcp.records.options import SearchFilters
from conversation_mcp.tooling.questions import AskingTool, SearchInput, ask_of, put_question
from conversation_mcp.tooling.sent_along import Continuing
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult


class SearchStartInput(Continuing, SearchInput):
    """A question for a search that opens a conversation."""


async def search(given: SearchStartInput, app: App, caller: Caller) -> TurnResult:
    """Open a conversation with a quick search."""
    return await put_question(ask_of(SEARCH, given, app.settings.search_preset), app, caller)


SEARCH = AskingTool(
    name="search",
    mode="search",
    opens=True,
    run=search,
    input_model=SearchStartInput,
    title="Search",
    describes=frozenset({SearchFilters, Continuing}),
    usage=(
        "search or deep_research opens one; keep its conversationId and pass it to search_followup or "
        "deep_research_followup, in either mode, also days later: earlier questions and answers are sent along, "
        "and the files that you name."
    ),
    description=(
        "Ask a question that a quick search answers, with numbered sources. Opens a conversation, kept on disk as "
        "conversation.json; continue it with search_followup or deep_research_followup and the conversationId "
        "returned. For a thorough report use deep_research."
    ),
)
