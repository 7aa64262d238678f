"""What a conversation is called."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from conversation_mcp.text import shorten, storable

if TYPE_CHECKING:
    from conversation_mcp.records.models import Conversation

TITLE_CHARS = 80
READ_CHARS = 1000
UNTITLED = "(empty)"
CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")


def title_of(title: str | None, questions: Iterable[str]) -> str:
    """Return the title that was set, else the first question up to a word that fits on a line."""
    for text in (title or "", *questions):
        if line := shorten(storable(text[:READ_CHARS]).translate(CONTROLS), TITLE_CHARS):
            return line
    return UNTITLED


def title_of_conversation(conversation: "Conversation") -> str:
    """Return what a conversation is called that was read as a record."""
    asked = [message.content for message in conversation.messages if message.role == "user"][:1]
    pending = conversation.pending_turn
    return title_of(conversation.title, [*asked, *([pending.question] if pending else [])])
