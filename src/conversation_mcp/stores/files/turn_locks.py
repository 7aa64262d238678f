"""The turn lock: a queue inside the process, then a lock file between processes."""

from collections.abc import Callable

from anyio import current_time, move_on_after, sleep, to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from conversation_mcp.disk.locks import FileLock
from conversation_mcp.errors import ConversationBusyError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import OnWait
from conversation_mcp.stores.files.lines import Lines, PlaceInLine

POLL_SECONDS = 0.03
TELL_SECONDS = 1.0

TryLock = Callable[[ConversationId], FileLock | None]


class HeldTurn:
    """A turn lock that is held; satisfies TurnLock."""

    def __init__(self, place: PlaceInLine, lock: FileLock) -> None:
        self._place = place
        self._lock = lock

    async def release(self) -> None:
        """Release the lock; nothing in here waits, so cancellation cannot interrupt it."""
        try:
            self._lock.release()
        finally:
            self._place.leave()


class TurnLocks:
    """The turn locks of this process. `try_lock` runs in a thread and locks the file if it is free."""

    def __init__(self, try_lock: TryLock) -> None:
        self._try_lock = try_lock
        self._lines = Lines()

    async def acquire(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> HeldTurn:
        """Wait for the lock, calling `on_wait` at once and then every second; a failed wait leaves nothing held."""
        place = self._lines.join(conversation_id)
        try:
            held = HeldTurn(place, await self._take(place, conversation_id, wait_seconds, on_wait))
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
    ) -> FileLock:
        started = tell_at = current_time()
        while (lock := await self._attempt(place, conversation_id)) is None:
            now = current_time()
            if now - started >= wait_seconds:
                raise ConversationBusyError(conversation_id, now - started)
            if now >= tell_at:
                await on_wait(now - started)
                tell_at = current_time() + TELL_SECONDS
            await _pause(place, min(tell_at, started + wait_seconds))
        return lock

    async def _attempt(self, place: PlaceInLine, conversation_id: ConversationId) -> FileLock | None:
        if not place.is_first:  # the file's lock knows no order, so that only the first of this process tries it
            return None
        return await to_thread.run_sync(self._try_lock, conversation_id)


async def _pause(place: PlaceInLine, until: float) -> None:
    if place.is_first:  # another process has the lock, and its release gives no signal
        await sleep(min(POLL_SECONDS, max(0, until - current_time())))
        return
    with move_on_after(until - current_time()):
        await place.wait()
