"""The tool `get_conversation_history`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.conversations.history import HistoryPage, history_page
from conversation_mcp.records.models import ConversationId
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.history import render_history
from conversation_mcp.tooling.tool import READS, Input, Tool
from conversation_mcp.turns.ask import Caller


class HistoryInput(Input):
    """The conversation, the page of it, and how long to wait."""

    conversation_id: ConversationIdArgument
    include_system_prompt: bool = Field(default=False, alias="includeSystemPrompt")
    """Also show the system message."""
    limit: int = Field(100, ge=1, le=500, description="Messages per page.")
    wait_seconds: int = Field(
        default=0, ge=0, le=50, alias="waitSeconds", description="How long to wait for a running question."
    )
    offset: int | None = Field(default=None, ge=0, description="Messages to skip from the oldest; default: last page.")


async def get_conversation_history(given: HistoryInput, app: App, caller: Caller) -> HistoryPage:
    """Return a page of the stored messages, after waiting for a running turn as long as the call asks."""
    view = await app.watch.look(given.conversation_id, caller._replace(wait_seconds=given.wait_seconds))
    page = history_page(
        view.conversation,
        app.store.location(ConversationId(view.conversation.conversation_id)),
        limit=given.limit,
        offset=given.offset,
        with_system_prompt=given.include_system_prompt,
        max_chars=app.settings.max_result_chars,
        expiry=await app.expiries.of(view.conversation),
    )
    return page.noting(view.notices, view.pending_age_seconds)


GET_CONVERSATION_HISTORY = Tool(
    name="get_conversation_history",
    run=get_conversation_history,
    render=render_history,
    input_model=HistoryInput,
    title="Conversation history",
    description=(
        "Show the stored messages of a conversation with their sources and cost, and a question that is still being "
        "answered or was never answered; waitSeconds waits for its answer. Asks nothing anew."
    ),
    hints=READS,
    steps={
        "read": "get_conversation_history",
        "wait": "get_conversation_history and waitSeconds 50",
        "fetch": "get_conversation_history with conversationId {} and waitSeconds 50",
    },
    usage="A result with status running is not lost: get_conversation_history with waitSeconds waits for the answer.",
)
