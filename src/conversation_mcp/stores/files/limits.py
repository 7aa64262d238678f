"""OwnerCounts as small files in `.limits`. Without one, a bucket is full."""

import math
import struct
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder
from conversation_mcp.disk.locks import FileLock, LockFolder
from conversation_mcp.limits.base import Rate
from conversation_mcp.limits.bucket import Bucket, name_of, taken
from conversation_mcp.records.layout import LIMITS

LOCK_SECONDS = 10.0
RECORD = struct.Struct("<dd")


class HeldShare:
    """A lock file that the system gives back when this process dies; satisfies Share."""

    def __init__(self, lock: FileLock, forget: Callable[[], object]) -> None:
        self._lock = lock
        self._forget = forget

    async def leave(self) -> None:
        """Release the lock."""
        self._lock.release()
        self._forget()


class LimitFiles:
    """Lock files: one for each bucket, which holds its record, and one for each seat; satisfies OwnerCounts."""

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self._folder = root / LIMITS
        self._locks = LockFolder(self._folder)
        self._now = now
        self._taking = anyio.Lock()
        self._held: set[str] = set()
        """The locks that this process has: they need not be tried."""

    async def take(self, owner: str, kind: str, rate: Rate, count: int = 1) -> float:
        """Change the record of the bucket under its lock."""
        async with self._taking:  # so that many questions at once do not keep threads that wait for one file
            return await to_thread.run_sync(self._take, name_of(owner, kind), rate, count)

    async def sit(self, owner: str, kind: str, most: int) -> HeldShare | None:
        """Lock the first file that is free."""
        return await to_thread.run_sync(self._sit, name_of(owner, kind), most)

    def _take(self, name: str, rate: Rate, count: int) -> float:
        lock_name = f"{name}.lock"
        with self._locks.hold(lock_name, self._make_folder, LOCK_SECONDS) as lock, explained(self._folder / lock_name):
            bucket, wait_seconds = taken(_read(lock), rate, self._now().timestamp(), count)
            lock.write(RECORD.pack(*bucket))  # also when nothing is taken: the clock may have been set back
        return wait_seconds

    def _sit(self, name: str, most: int) -> HeldShare | None:
        for number in range(most):
            seat = f"{name}-{number}.lock"
            if seat not in self._held and (lock := self._locks.try_lock(seat, self._make_folder)):
                self._held.add(seat)
                return HeldShare(lock, partial(self._held.discard, seat))
        return None

    def _make_folder(self) -> None:
        with explained(self._folder):
            make_private_folder(self._folder)


def _read(lock: FileLock) -> Bucket | None:
    data = lock.read(RECORD.size)
    if len(data) < RECORD.size:
        return None
    bucket = Bucket(*RECORD.unpack(data))
    return bucket if 0 <= bucket.tokens < math.inf and math.isfinite(bucket.at) else None
