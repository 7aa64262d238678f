"""Keeps the index in step with the folder in the background of a running program."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.stores.files.index.base import Index, Watch

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

SETTLE_SECONDS = 1.0
"""A turn writes its conversation several times; it is read when that is over."""
PURGE_AFTER_SECONDS = 5.0
"""A client that has just started the server waits for other things."""

logger = logging.getLogger(__name__)


class Comparison:
    """A comparison of the index with the folder that begins after it was asked for."""

    def __init__(self) -> None:
        self.watch = Watch()
        self.done = anyio.Event()
        self.error: Exception | None = None


class IndexKeeper:
    """Runs comparisons, one at a time, and takes in what this process has written."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._wake = anyio.Event()
        self._asked = anyio.Event()
        self._next: Comparison | None = None
        self._current: Comparison | None = None
        self._is_stopped = False

    def note(self, conversation_id: "ConversationId") -> None:
        """Have the conversation read soon, without waiting for that."""
        self._index.note(conversation_id)
        self._wake.set()

    def compare(self) -> Comparison:
        """Have the folder compared; all who ask before that begins share it."""
        if self._next is None:
            self._next = Comparison()
            self._wake.set()
            self._asked.set()
        return self._next

    async def run(self) -> None:
        """Work until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._purge)
            while True:
                await self._wake.wait()
                self._wake = anyio.Event()
                with anyio.move_on_after(SETTLE_SECONDS):
                    await self._asked.wait()
                self._asked = anyio.Event()
                await self._work()

    def stop(self) -> None:
        """End a comparison that is running at the next file, and begin no other, so that the program can end."""
        self._is_stopped = True
        if self._current is not None:
            self._current.watch.is_stopped = True

    async def _work(self) -> None:
        self._current, self._next = self._next, None
        if self._current is None:
            await self._quietly(self._index.take_in_noted)
            return
        self._current.watch.is_stopped = self._is_stopped
        try:
            await to_thread.run_sync(self._index.compare, self._current.watch)
        except Exception as error:  # noqa: BLE001 -- it belongs to those who wait
            self._current.error = error
        self._current.done.set()
        self._current = None

    async def _purge(self) -> None:
        await anyio.sleep(PURGE_AFTER_SECONDS)
        await self._quietly(self._index.purge_orphans)

    async def _quietly(self, step: Callable[[], None]) -> None:
        """Do what nobody waits for; a folder that cannot be read is told to whoever asks next."""
        try:
            await to_thread.run_sync(step)
        except ConversationMCPError as error:
            logger.info("the index is not up to date: %s", error.message)
        except Exception:
            logger.exception("the index is not up to date")
