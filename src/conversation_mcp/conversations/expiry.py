"""When an idle conversation is archived or forgotten, told before it happens."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from conversation_mcp.clock import parse_time
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.stores.base import Store

LAST = datetime.max.replace(tzinfo=UTC)


class Expiry(NamedTuple):
    """The times after which a conversation is put away if it is not used before; None if it is not."""

    archived_after: str | None = None
    forgotten_after: str | None = None


class Expiries:
    """Tells when the conversations of a store are put away."""

    def __init__(self, store: Store, timeout_hours: float | None) -> None:
        self._store = store
        self._timeout_hours = timeout_hours

    async def of(self, conversation: Conversation) -> Expiry:
        """Return its times, none if the store cannot be asked; in a store that forgets, nothing is archived first."""
        try:
            forgotten = await self._store.forgotten_after(ConversationId(conversation.conversation_id))
        except ConversationMCPError:
            return Expiry()
        if forgotten is not None:
            return Expiry(forgotten_after=iso(forgotten))
        return Expiry(archived_after(conversation, self._timeout_hours))


def archived_after(conversation: Conversation, timeout_hours: float | None) -> str | None:
    """Return the time after which the conversation is archived if it is not used before; None if it is kept.

    The pruner keeps the same ones: those with tags, and those with a question that has no answer.
    """
    if timeout_hours is None or conversation.tags or conversation.archived or conversation.pending_turn:
        return None
    updated, idle = parse_time(conversation.updated_at), timedelta(hours=timeout_hours)
    return iso(updated + idle) if updated <= LAST - idle else None


def expiry_line(archived: str | None, forgotten: str | None) -> str:
    """Return the sentence that says so; empty if there is no such time."""
    if forgotten:
        return f"Forgotten if it is not used before {forgotten}"
    return f"Archived if it is not used before {archived}" if archived else ""
