"""What one owner may ask of a server that it shares with others."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import anyio

from conversation_mcp.errors import RateLimitedError, StorageLimitReachedError
from conversation_mcp.limits.base import Rate
from conversation_mcp.stores.base import Store

KNOWN_SECONDS = 60.0
"""How long a measured size counts; to measure thousands of files for each question would cost more than it saves."""
AGAIN_SECONDS = 5
"""When to try again if too many turns run; nobody knows when one ends."""


class OwnerRates(NamedTuple):
    """The limits of each owner."""

    questions_per_minute: int
    conversations_per_minute: int
    running_turns: int
    stored_bytes: int


class OwnerLimits:
    """Refuses questions of an owner who asks too much; without rates, nothing is refused or counted."""

    def __init__(
        self, owner: str, store: Store, rates: OwnerRates | None, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._owner = owner
        self._store = store
        self._rates = rates
        self._seconds = seconds
        self._size: tuple[float, int] | None = None
        self._measuring = anyio.Lock()

    @property
    def is_set(self) -> bool:
        """Whether there are limits."""
        return self._rates is not None

    @asynccontextmanager
    async def admitted(self, *, opens: bool) -> AsyncGenerator[None]:
        """Count a question, and a conversation if it opens one; the turn counts as running for the length of the block.

        Raises:
            RateLimitedError: too many were asked, or run.
            StorageLimitReachedError: the owner has no room left.
        """
        if (rates := self._rates) is None:
            yield
            return
        await self._check_room(rates)
        seat = await self._store.limits.sit(self._owner, "running", rates.running_turns)
        if seat is None:
            raise RateLimitedError(f"{rates.running_turns} at once for questions", AGAIN_SECONDS)
        try:
            await self._count("questions", rates.questions_per_minute)
            if opens:
                await self._count("conversations", rates.conversations_per_minute)
            yield
        finally:
            await seat.leave()

    async def _count(self, kind: str, per_minute: int) -> None:
        if seconds := await self._store.limits.take(self._owner, kind, Rate(per_minute)):
            raise RateLimitedError(f"{per_minute:,} a minute for new {kind}", seconds)

    async def _check_room(self, rates: OwnerRates) -> None:
        async with self._measuring:  # or all questions that find the size too old would measure it, each in a thread
            now = self._seconds()
            if self._size is None or now - self._size[0] >= KNOWN_SECONDS:
                self._size = now, await self._store.size_bytes()
        if self._size[1] >= rates.stored_bytes:
            raise StorageLimitReachedError(self._size[1], rates.stored_bytes)
