"""A bar on a terminal's stderr while something goes through many files."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread

from conversation_mcp.stores.index.base import Watch

SLOW_SECONDS = 0.7
REFRESH_SECONDS = 0.1


@contextmanager
def progress(what: str, watch: Watch, after_seconds: float = SLOW_SECONDS) -> Generator[None]:
    """Show how far the body has come, as it notes it in the watch; nothing if it is quick, or nobody looks."""
    if not sys.stderr.isatty():
        yield
        return
    ended = Event()
    showing = Thread(target=_show, args=(what, watch, ended, after_seconds), daemon=True)
    showing.start()
    try:
        yield
    finally:
        ended.set()
        showing.join()


def _show(what: str, watch: Watch, ended: Event, after_seconds: float) -> None:
    if ended.wait(after_seconds):
        return
    from rich.console import Console  # noqa: PLC0415 -- who is quick needs none of it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415 -- the same

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    # Rich would take what is printed meanwhile for a part of this terminal, wherever stdout goes.
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task(what, total=watch.total)
        while not ended.wait(REFRESH_SECONDS):
            bar.update(task, total=watch.total, completed=watch.seen)
