"""The state of a conversation's last question, in words."""

from typing import TYPE_CHECKING

from conversation_mcp.text import dollars, shorten

if TYPE_CHECKING:
    from conversation_mcp.records.models import Conversation, PendingTurn

SHOWN_QUESTION_CHARS = 60


def standing_of(conversation: "Conversation") -> str:
    """Return the state of the last question, and what was billed if it has no answer."""
    pending = conversation.pending_turn
    if pending is None:
        return f"answered, {len(conversation.messages)} messages"
    return f"{pending.status}: {shorten(pending.question, SHOWN_QUESTION_CHARS)}{_why(pending)}{_billed(pending)}"


def _why(pending: "PendingTurn") -> str:
    return f" ({pending.error.message.rstrip('.')})" if pending.error else ""


def _billed(pending: "PendingTurn") -> str:
    if pending.usage is None or pending.usage.cost_usd is None:
        return "; what was billed is not known"
    return f"; billed {dollars(pending.usage.cost_usd)}"
