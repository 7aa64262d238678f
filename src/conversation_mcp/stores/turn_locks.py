"""The turn lock: a queue inside the process, then the store's own lock between processes."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from anyio import current_time, move_on_after
from anyio.lowlevel import checkpoint_if_cancelled

from conversation_mcp.cancellation import in_thread
from conversation_mcp.errors import ConversationBusyError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import OnWait
from conversation_mcp.stores.ears import Ear, hear_nothing
from conversation_mcp.stores.lines import Lines, PlaceInLine

POLL_SECONDS = 0.03
REMOTE_POLL_SECONDS = 0.2
TELL_SECONDS = 1.0


class ProcessLock(Protocol):
    """A lock that keeps other processes out."""

    def release(self) -> None:
        """Release it; harmless if it was released before."""
        ...


TryLock = Callable[[ConversationId], ProcessLock | None]


class HeldTurn:
    """A turn lock that is held; satisfies TurnLock."""

    def __init__(self, place: PlaceInLine, lock: ProcessLock, *, is_remote: bool) -> None:
        self._place = place
        self._lock = lock
        self._is_remote = is_remote

    async def release(self) -> None:
        """Release the lock; cancellation cannot interrupt it."""
        try:
            if self._is_remote:
                await in_thread(self._lock.release)
            else:
                self._lock.release()
        finally:
            self._place.leave()


class TurnLocks:
    """The turn locks of this process. `try_lock` runs in a thread and takes the lock if it is free.

    If the lock is remote, its release waits for another machine, and it is tried less often. `hear` opens an ear for
    whoever has it.
    """

    def __init__(
        self,
        try_lock: TryLock,
        *,
        is_remote: bool = False,
        hear: Callable[[ConversationId], AbstractContextManager[Ear]] = hear_nothing,
    ) -> None:
        self._try_lock = try_lock
        self._is_remote = is_remote
        self._hear = hear
        self._lines = Lines()

    async def acquire(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> HeldTurn:
        """Wait for the lock, calling `on_wait` at once and then every second; a failed wait leaves nothing held."""
        place = self._lines.join(conversation_id)
        try:
            held = HeldTurn(
                place,
                await self._take(place, conversation_id, wait_seconds, on_wait),
                is_remote=self._is_remote,
            )
        except BaseException:
            place.leave()
            raise
        try:
            # The thread that takes the lock cannot be cancelled; a cancellation during it takes effect only here.
            await checkpoint_if_cancelled()
        except BaseException:
            await held.release()
            raise
        return held

    async def _take(
        self, place: PlaceInLine, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait
    ) -> ProcessLock:
        started = tell_at = current_time()
        with self._hear(conversation_id) as ear:
            while (lock := await self._attempt(place, conversation_id)) is None:
                now = current_time()
                if now - started >= wait_seconds:
                    raise ConversationBusyError(conversation_id, now - started)
                if now >= tell_at:
                    await on_wait(now - started)
                    tell_at = current_time() + TELL_SECONDS
                with move_on_after(min(tell_at, started + wait_seconds) - current_time()):
                    await self._pause(place, ear)
            return lock

    async def _attempt(self, place: PlaceInLine, conversation_id: ConversationId) -> ProcessLock | None:
        if not place.is_first:  # the lock itself knows no order, so that only the first of this process tries it
            return None
        return await in_thread(self._try_lock, conversation_id)

    async def _pause(self, place: PlaceInLine, ear: Ear) -> None:
        if place.is_first:  # another process has the lock
            await ear.pause(REMOTE_POLL_SECONDS if self._is_remote else POLL_SECONDS)
        else:
            await place.wait()
