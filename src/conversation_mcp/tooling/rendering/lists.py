"""Lists of conversations as text."""

from collections.abc import Iterator

from conversation_mcp.conversations.library import ConversationPage, ListedConversation
from conversation_mcp.conversations.phrases import dotted, noted, paragraphs
from conversation_mcp.text import counted, dollars

INDENT = "  "


def render_list(page: ConversationPage) -> str:
    """Return a block for each conversation: its id, title and facts, then its last question and the match."""
    count = len(page.conversations)
    parts = [
        counted(count, "conversation") if count else "No conversations",
        noted(page.notices),
        *("\n".join(_lines(conversation)) for conversation in page.conversations),
        f"Next page: the same call with cursor {page.next_cursor}" if page.next_cursor else "",
    ]
    return paragraphs(*parts)


def _lines(conversation: ListedConversation) -> Iterator[str]:
    facts = (
        f"{conversation.conversation_id} · {conversation.title}",
        conversation.state or "",
        counted(conversation.message_count, "message"),
        dollars(conversation.cost_usd),
        f"updated {conversation.updated_at}",
    )
    yield dotted(*facts)
    if conversation.last_question and conversation.last_question != conversation.title:
        yield f"{INDENT}Last question: {conversation.last_question}"
    if conversation.snippet:
        number = f"#{conversation.message_number}: " if conversation.message_number else ""
        yield f"{INDENT}{number}{conversation.snippet}"
