"""When an idle conversation is archived or forgotten, told before it happens."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from conversation_mcp.clock import parse_time
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.ages import age_of
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.stores.base import Store

LAST = datetime.max.replace(tzinfo=UTC)
KNOWN_SECONDS = 60.0
"""How long the age counts that a store told: it hardly ever changes, and asking costs each answer a wait."""


class Expiry(NamedTuple):
    """The times after which a conversation is put away if it is not used before; None if it is not."""

    archived_after: str | None = None
    forgotten_after: str | None = None


class Expiries:
    """Tells when the conversations of a store are put away."""

    def __init__(
        self, store: Store, timeout_hours: float | None, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._idle = None if timeout_hours is None else timedelta(hours=timeout_hours)
        self._seconds = seconds
        self._age: tuple[float, timedelta | None] | None = None

    async def of(self, conversation: Conversation) -> Expiry:
        """Return its times, none if the store cannot be asked; in a store that forgets, nothing is archived first."""
        try:
            forgotten = await self._store.forgotten_after(ConversationId(conversation.conversation_id))
            deleted = idle_after(conversation, await self._kept_for())
        except ConversationMCPError:
            return Expiry()
        if forgotten is not None:
            return Expiry(forgotten_after=iso(min(forgotten, deleted or LAST)))
        archived = None if conversation.archived else idle_after(conversation, self._idle)
        return Expiry(archived and iso(archived), deleted and iso(deleted))

    async def _kept_for(self) -> timedelta | None:
        now = self._seconds()
        if self._age is None or now - self._age[0] >= KNOWN_SECONDS:
            self._age = now, age_of(await self._store.kept_for() or "")
        return self._age[1]


def idle_after(conversation: Conversation, age: timedelta | None) -> datetime | None:
    """Return the time after which the conversation was not used for so long; None if it is kept for any time.

    The pruner keeps the same ones: those with tags, and those with a question that has no answer.
    """
    if age is None or conversation.tags or conversation.pending_turn:
        return None
    updated = parse_time(conversation.updated_at)
    return updated + age if updated <= LAST - age else None


def expiry_line(archived: str | None, forgotten: str | None) -> str:
    """Return the sentence that says so; empty if there is no such time."""
    if forgotten:
        return f"Forgotten if it is not used before {forgotten}"
    return f"Archived if it is not used before {archived}" if archived else ""
