"""The tool `fetch_conversation_history`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.conversations.dialogue_pages import LoggedPage, Order, logged_page
from conversation_mcp.records.ids import check_id
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.logged import render_logged
from conversation_mcp.tooling.tool import READS, Input, Tool
from conversation_mcp.turns.ask import Caller


class FetchInput(Input):
    """The conversation, and the page of it."""

    conversation_id: ConversationIdArgument
    limit: int = Field(default=100, ge=1, le=500)
    offset: int = Field(default=0, ge=0)
    order: Order = "oldest"


async def fetch_conversation_history(given: FetchInput, app: App, caller: Caller) -> LoggedPage:
    """Return a page of the log."""
    del caller
    conversation = await app.store.load(check_id(given.conversation_id))
    return logged_page(
        conversation,
        limit=given.limit,
        offset=given.offset,
        order=given.order,
        max_chars=app.settings.max_result_chars,
    )


FETCH_CONVERSATION_HISTORY = Tool(
    name="fetch_conversation_history",
    run=fetch_conversation_history,
    render=render_logged,
    input_model=FetchInput,
    title="Fetch messages",
    description="Return the messages of a conversation in pages, which begin with the oldest or the newest one.",
    hints=READS,
)
