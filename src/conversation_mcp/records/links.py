"""The link of a conversation to the one that it continues: its `parent`, of which no messages were copied."""

from dataclasses import dataclass
from typing import Any

from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.models import Conversation, ConversationId

CONTINUES_AFTER = "continuesAfter"


@dataclass(frozen=True)
class Link:
    """The conversation that is continued, and how many of its messages were there then."""

    conversation_id: ConversationId
    message_count: int


def link_to(conversation: Conversation) -> dict[str, Any]:
    """Return the `parent` of a conversation that continues this one."""
    return {"conversationId": conversation.conversation_id, CONTINUES_AFTER: len(conversation.messages)}


def link_of(conversation: Conversation) -> Link | None:
    """Return the link to the conversation that this one continues; None if it continues none, as a branch does."""
    parent = conversation.parent or {}
    name, count = parent.get("conversationId"), parent.get(CONTINUES_AFTER)
    if not isinstance(name, str) or not SHAPE.fullmatch(name) or not isinstance(count, int) or count < 1:
        return None
    return Link(ConversationId(name), count)
