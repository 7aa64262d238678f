"""The results of the tools for a chatbot's log as text."""

from collections.abc import Iterable

from conversation_mcp.conversations.dialogue_pages import LoggedMessage, LoggedPage, RecentMessages
from conversation_mcp.conversations.phrases import dotted, noted, paragraphs
from conversation_mcp.text import counted
from conversation_mcp.tooling.logged import (
    CreatedConversation,
    StoredMessage,
    StoredMessages,
    SummarizedConversation,
)


def render_created(result: CreatedConversation) -> str:
    """Return a line of facts."""
    line = dotted(f"Conversation {result.conversation_id} created for {result.user_id}", result.title or "")
    return paragraphs(line, noted(result.notices))


def render_stored(result: StoredMessage) -> str:
    """Return a line of facts."""
    return paragraphs(_stored(result), noted(result.notices))


def render_all_stored(result: StoredMessages) -> str:
    """Return a line of facts for each message."""
    return paragraphs("\n".join(map(_stored, result.messages)), noted(result.notices))


def _stored(message: StoredMessage) -> str:
    return dotted(f"{message.message_id} stored in {message.conversation_id}", message.role, message.created_at or "")


def render_logged(page: LoggedPage) -> str:
    """Return the messages of a page, each under its id."""
    shown = f"messages {page.offset + 1} to {page.offset + len(page.messages)} of {page.total_count}"
    if not page.messages:
        shown = f"no messages at offset {page.offset} of {page.total_count}"
    more = f"More with offset {page.offset + len(page.messages)}." if page.has_more else ""
    return paragraphs(f"Conversation {page.conversation_id} · {shown}", *_messages(page.messages), more)


def render_recent(result: RecentMessages) -> str:
    """Return the summary and the messages after it, and how many are left out."""
    facts = (
        f"Conversation {result.conversation_id}",
        f"the newest {len(result.messages)} of {counted(result.total_count, 'message')}",
        f"about {counted(result.estimated_tokens, 'token')}",
        f"{result.left_out_count} left out" if result.left_out_count else "",
    )
    summary = f"Summary of the first {result.summarized_count}:\n{result.summary}" if result.summary else ""
    return paragraphs(dotted(*facts), summary, *_messages(result.messages))


def render_summarized(result: SummarizedConversation) -> str:
    """Return the summary with what it covers."""
    if result.status == "running":
        return f"Conversation {result.conversation_id} · is being summarized; the same call again waits for it."
    covered = f"{result.summarized_count} of {counted(result.total_count or 0, 'message')} covered"
    facts = dotted(f"Conversation {result.conversation_id} {result.status}", covered, result.model_used or "")
    return paragraphs(facts, result.summary or "", noted(result.notices))


def _messages(messages: Iterable[LoggedMessage]) -> Iterable[str]:
    for message in messages:
        yield f"{dotted(message.message_id, message.role, message.created_at or '')}\n{message.content}"
