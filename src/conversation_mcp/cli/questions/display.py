"""What a person sees while an answer is on its way: what is being done, then the text as it comes."""

import math
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio

from conversation_mcp.cli.output.sheets import new_sheet
from conversation_mcp.cli.output.terminal import console, printable

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from rich.progress import Progress

SECONDS = re.compile(r" \([0-9]+ s\)\Z")


class Display:
    """Shows progress on a terminal's stderr, and the pieces of the text on stdout, a terminal or a pipe."""

    def __init__(self, *, streams: bool) -> None:
        self.conversation_id: str | None = None
        self._sheet = new_sheet()
        self._streams = streams
        self._send: MemoryObjectSendStream[tuple[str, bool]] | None = None
        self._status: Progress | None = None

    async def report(self, headline: str) -> None:
        """Take a line of progress, which begins with the conversation's id."""
        self.conversation_id, _, doing = headline.partition(" · ")
        if self._status is not None:
            self._status.update(self._status.task_ids[0], description=printable(SECONDS.sub("", doing)))

    def hear(self, text: str, replaces: bool) -> None:
        """Take a piece of the answer; it is printed later, so that a terminal that stands still holds nothing up.

        What comes after the person has gone is not shown.
        """
        if self._streams and self._send:
            self._send.send_nowait((text, replaces))

    def finish(self, text: str | None = None) -> str:
        """Let what follows begin on a line of its own, below the whole text if there is one; return what is shown."""
        self._sheet.end(text)
        return self._sheet.text

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Show things while the body runs; after it everything is shown."""
        failure: Exception | None = None
        send, receive = anyio.create_memory_object_stream[tuple[str, bool]](math.inf)
        self._send = send
        self._start_status()
        try:
            with send, receive:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._print, receive)
                    try:
                        yield
                    except Exception as error:  # noqa: BLE001 -- raised below, as it came and not in a group
                        failure = error
                    send.close()
        finally:
            self._send = None
            self._stop_status()
        if failure is not None:
            raise failure

    async def _print(self, pieces: "MemoryObjectReceiveStream[tuple[str, bool]]") -> None:
        async for first in pieces:
            self._stop_status()
            text, replaces = _with_waiting(first, pieces)
            add = partial(self._sheet.add, text, replaces=replaces)
            try:
                await anyio.to_thread.run_sync(add, abandon_on_cancel=True)
            except OSError:  # the reader has left; the answer is waited for and saved all the same
                self._streams, self._sheet = False, new_sheet()
                return

    def _start_status(self) -> None:
        if not sys.stderr.isatty():
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        screen = console(stderr=True)
        columns = (
            SpinnerColumn("dots" if screen.encoding.startswith("utf") else "line"),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
        )
        self._status = Progress(*columns, console=screen, transient=True)
        self._status.add_task("starting", total=None)
        self._status.start()

    def _stop_status(self) -> None:
        status, self._status = self._status, None
        if status is not None:
            status.stop()


def _with_waiting(piece: tuple[str, bool], pieces: "MemoryObjectReceiveStream[tuple[str, bool]]") -> tuple[str, bool]:
    """Return the piece together with those that came while others were printed."""
    text, replaces = piece
    with suppress(anyio.WouldBlock, anyio.EndOfStream):
        while True:
            more, is_new = pieces.receive_nowait()
            text, replaces = (more, True) if is_new else (text + more, replaces)
    return text, replaces
