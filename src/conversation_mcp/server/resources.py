"""Conversations as resources: one template; a client finds ids through completion or the results of tools."""

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
    """Return the address of a conversation's resource."""
    return SCHEME + conversation_id
