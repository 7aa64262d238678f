"""The resource template of conversations; clients get ids from completion or from results of tools."""

from mcp.types import ResourceTemplate

from conversation_mcp.records.models import ConversationId

SCHEME = "conversation://"
MIME_TYPE = "text/markdown"
TEMPLATE = ResourceTemplate(
    uri_template=SCHEME + "{conversationId}",
    name="conversation",
    title="Conversation",
    description="A stored conversation as Markdown: questions, answers, sources as links, cost.",
    mime_type=MIME_TYPE,
)


def uri_of(conversation_id: ConversationId) -> str:
    """Return the URI of a conversation."""
    return SCHEME + conversation_id
