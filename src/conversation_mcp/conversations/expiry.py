"""When an idle conversation is archived, told before it happens."""

from datetime import UTC, datetime, timedelta

from conversation_mcp.clock import parse_time
from conversation_mcp.records.models import Conversation, iso

LAST = datetime.max.replace(tzinfo=UTC)


def archived_after(conversation: Conversation, timeout_hours: float | None) -> str | None:
    """Return the time after which the conversation is archived if it is not used before; None if it is kept.

    The pruner keeps the same ones: those with tags, and those with a question that has no answer.
    """
    if timeout_hours is None or conversation.tags or conversation.archived or conversation.pending_turn:
        return None
    updated, idle = parse_time(conversation.updated_at), timedelta(hours=timeout_hours)
    return iso(updated + idle) if updated <= LAST - idle else None


def expiry_line(time: str | None) -> str:
    """Return the sentence that says so; empty if there is no such time."""
    return f"Archived if it is not used before {time}" if time else ""
