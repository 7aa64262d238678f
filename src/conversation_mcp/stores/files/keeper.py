"""The background task that keeps the index up to date with the folder."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.stores.base import Report
from conversation_mcp.stores.files.finder import FileFinder
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

COMPARED_AT_ONCE = 20_000
COMPARED_EVERY = timedelta(seconds=5)
SEEN_WITHIN = timedelta(seconds=10)
TOLD_EVERY_SECONDS = 1.0
SETTLE_SECONDS = 1.0
"""A turn writes its conversation several times; this delay reads it once."""
PURGE_AFTER_SECONDS = 5.0
"""Keeps the purge out of the start, when a client waits for the first answers."""

logger = logging.getLogger(__name__)


class Comparison:
    """A comparison of the index with the folder that begins after it was requested."""

    def __init__(self) -> None:
        self.headway = Headway()
        self.done = anyio.Event()
        self.error: Exception | None = None

    async def wait(self, patience_seconds: float, report: Report) -> str | None:
        """Wait up to `patience_seconds`, and return a notice if it has not ended; raise the error that ended it."""
        with anyio.move_on_after(patience_seconds):
            while not self.done.is_set():
                with anyio.move_on_after(TOLD_EVERY_SECONDS):
                    await self.done.wait()
                    break
                await report(f"checking the files of conversations: {self._progress()}")
        if self.error is not None:
            raise self.error
        if self.done.is_set():
            return None
        return f"not all files were checked yet ({self._progress()}), so some may be missing; ask again"

    def _progress(self) -> str:
        headway = self.headway
        return f"{headway.seen:,} of {headway.total:,}" if headway.total else f"{headway.seen:,} so far"


class IndexKeeper:
    """Runs comparisons, one at a time, and has the finder take in what this process has written.

    With up to `compared_at_once` conversations, each request compares the folder. With more, a comparison of the last
    seconds is enough, and the next one runs in the background.
    """

    def __init__(
        self,
        finder: FileFinder,
        now: Callable[[], datetime],
        *,
        compared_at_once: int = COMPARED_AT_ONCE,
        purges: bool = True,
    ) -> None:
        self.finder = finder
        self._now = now
        self._compared_at_once = compared_at_once
        self._purges = purges
        self._wake = anyio.Event()
        self._asked = anyio.Event()
        self._next: Comparison | None = None
        self._current: Comparison | None = None
        self._is_stopped = False

    def note(self, conversation_id: "ConversationId") -> None:
        """Schedule the conversation to be read, without waiting for it."""
        self.finder.note(conversation_id)
        self._wake.set()

    def compare(self) -> Comparison:
        """Schedule a comparison; all requests before it begins share it."""
        if self._next is None:
            self._next = Comparison()
            self._wake.set()
            self._asked.set()
        return self._next

    async def freshen(self, patience_seconds: float, report: Report) -> str | None:
        """Bring the index up to date, waiting up to `patience_seconds`; return a notice of what is still missing."""
        standing = await to_thread.run_sync(self.finder.standing)
        if standing.compared_at is None or standing.conversation_count <= self._compared_at_once:
            return await self.compare().wait(patience_seconds, report)
        age = abs(self._now() - standing.compared_at)
        comparison = self.compare() if age > COMPARED_EVERY else None
        if comparison is not None and age > SEEN_WITHIN:
            return await comparison.wait(patience_seconds, report)
        await to_thread.run_sync(self.finder.take_in_written)
        return None

    async def run(self) -> None:
        """Work until cancelled; a running comparison then stops at the next file."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._stop_at_the_end)
            if self._purges:  # once for all owners, whose indexes are in one folder
                tasks.start_soon(self._purge)
            while True:
                await self._wake.wait()
                self._wake = anyio.Event()
                with anyio.move_on_after(SETTLE_SECONDS):
                    await self._asked.wait()
                self._asked = anyio.Event()
                await self._work()

    async def _stop_at_the_end(self) -> None:
        # A thread cannot be cancelled: the comparison in it is told to stop, or the program's exit would wait for it.
        try:
            await anyio.sleep_forever()
        finally:
            self._is_stopped = True
            if self._current is not None:
                self._current.headway.is_stopped = True

    async def _work(self) -> None:
        # Replaced before it begins: a request from now on may be about a later write and needs a comparison of its own.
        self._current, self._next = self._next, None
        if self._current is None:
            await self._quietly(self.finder.take_in_written)
            return
        self._current.headway.is_stopped = self._is_stopped
        try:
            await to_thread.run_sync(self.finder.refresh, self._current.headway)
        except Exception as error:  # noqa: BLE001 -- raised to those who wait
            self._current.error = error
        finally:  # also when the store ends: nobody must wait for what no longer comes
            self._current.done.set()
            self._current = None

    async def _purge(self) -> None:
        await anyio.sleep(PURGE_AFTER_SECONDS)
        await self._quietly(self.finder.purge_orphans)

    async def _quietly(self, step: Callable[[], None]) -> None:
        """Do work that nobody waits for; a folder that cannot be read is reported at the next request."""
        try:
            await to_thread.run_sync(step)
        except ConversationMCPError as error:
            logger.info("the index is not up to date: %s", error.message)
        except Exception:
            logger.exception("the index is not up to date")
