"""The tool `summarize_conversation`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.conversations.dialogue_pages import covered_by, logged_count
from conversation_mcp.tooling.logged import SummarizedConversation
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.logged import render_summarized
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.turns.ask import Caller

ALL_FIT = "all messages fit; there is nothing to summarize"


class SummarizeInput(Input):
    """The conversation, and what `recent` will be asked for."""

    conversation_id: ConversationIdArgument
    max_tokens: int | None = Field(default=None, alias="maxTokens", ge=1, le=10_000_000)


async def summarize_conversation(given: SummarizeInput, app: App, caller: Caller) -> SummarizedConversation:
    """Have the older messages summarized."""
    del caller
    done = await app.summaries.summarise(given.conversation_id, given.max_tokens, app.settings.answer_wait_seconds)
    if done is None:
        return SummarizedConversation.of(conversation_id=given.conversation_id, status="running")
    summary = done.summary
    return SummarizedConversation.of(
        conversation_id=given.conversation_id,
        status="summarized" if done.is_new else "unchanged",
        summary=summary.content if summary else None,
        summarized_count=covered_by(done.conversation, summary) if summary else 0,
        total_count=logged_count(done.conversation),
        model_used=summary.model if summary else None,
        usage=summary.usage if summary else None,
        notices=done.notices or (() if summary else (ALL_FIT,)) or None,
    )


SUMMARIZE_CONVERSATION = Tool(
    name="summarize_conversation",
    run=summarize_conversation,
    render=render_summarized,
    input_model=SummarizeInput,
    title="Summarize a conversation",
    description=(
        "Have the model of the settings summarize the messages that recent leaves out for maxTokens, or all but the "
        "newest turn. One that is there already costs nothing."
    ),
    hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=True),
)
