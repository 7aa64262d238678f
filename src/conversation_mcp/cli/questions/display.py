"""The display of a running question: the current step, then the text as it comes."""

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
"""The elapsed time in a line of progress, left out because the display has a clock of its own."""


class Display:
    """Shows progress on a terminal's stderr, and the pieces of the text on stdout, a terminal or a pipe."""

    def __init__(self, *, streams: bool) -> None:
        self.conversation_id: str | None = None
        self._sheet = new_sheet()
        self._streams = streams
        self._send: MemoryObjectSendStream[tuple[str, bool]] | None = None
        self._status: Progress | None = None

    async def report(self, headline: str) -> None:
        """Show a line of progress; it begins with the conversation's id, which is kept."""
        self.conversation_id, _, doing = headline.partition(" · ")
        if self._status is not None:
            self._status.update(self._status.task_ids[0], description=printable(SECONDS.sub("", doing)))

    def hear(self, text: str, replaces: bool) -> None:
        """Queue a piece of the answer for printing, so that a stopped terminal does not hold up the turn.

        Pieces that come after the display is closed are not shown.
        """
        if self._streams and self._send:
            self._send.send_nowait((text, replaces))

    def finish(self, text: str | None = None) -> str:
        """Show the rest of the whole text, if it is given, end the last line, and return the shown text."""
        self._sheet.end(text)
        return self._sheet.text

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Show progress and text while the body runs; wait at its end until everything is printed."""
        failure: Exception | None = None
        # Without a limit: `hear` must not wait.
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
                # A terminal stopped with Ctrl-S blocks the write; the thread is then left behind at the end.
                await anyio.to_thread.run_sync(add, abandon_on_cancel=True)
            except OSError:  # the reader of the pipe has left; the answer is still awaited and saved
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
    """Return the piece joined with those that came while earlier ones were printed."""
    text, replaces = piece
    with suppress(anyio.WouldBlock, anyio.EndOfStream):
        while True:
            more, is_new = pieces.receive_nowait()
            text, replaces = (more, True) if is_new else (text + more, replaces)
    return text, replaces
