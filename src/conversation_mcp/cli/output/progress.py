"""Progress bars on stderr, if it is a terminal, for work on many files or a large one."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.terminal import console
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from threading import Event

    from rich.progress import Progress, ProgressColumn

SLOW_SECONDS = 0.7
"""Work that ends sooner shows no bar."""
REFRESH_SECONDS = 0.1


@contextmanager
def progress(what: str, headway: Headway, after_seconds: float = SLOW_SECONDS) -> Generator[None]:
    """Show a bar of the headway while the body runs; nothing if the body is quick or stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Event, Thread

    # In a thread, because the body blocks; rich is imported there, too, and only once the work proves slow.
    ended = Event()
    showing = Thread(target=_show, args=(what, headway, ended, after_seconds), daemon=True)
    showing.start()
    try:
        yield
    finally:
        ended.set()
        showing.join()


@contextmanager
def bytes_progress(what: str, total: int) -> Generator[Callable[[int], None]]:
    """Yield a function to call with the number of bytes read; it shows a bar if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import DownloadColumn, TimeRemainingColumn

    with _bar(DownloadColumn(), TimeRemainingColumn()) as bar:
        yield partial(bar.advance, bar.add_task(what, total=total))


def _show(what: str, headway: Headway, ended: "Event", after_seconds: float) -> None:
    if ended.wait(after_seconds):
        return
    from rich.progress import MofNCompleteColumn

    with _bar(MofNCompleteColumn()) as bar:
        task = bar.add_task(what, total=headway.total)
        while not ended.wait(REFRESH_SECONDS):
            bar.update(task, total=headway.total, completed=headway.seen)


def _bar(*facts: "ProgressColumn") -> "Progress":
    """Return a bar that vanishes at its end; lines on stderr appear above it, and stdout is not redirected."""
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), *facts)
    return Progress(*columns, console=console(stderr=True), transient=True, redirect_stdout=False)
