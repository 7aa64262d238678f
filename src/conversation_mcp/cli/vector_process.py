"""The process that makes vectors for a server: at low priority, half of the time at most, and never longer than it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from conversation_mcp.sources import variable_of

if TYPE_CHECKING:
    from conversation_mcp.settings import Settings

LOWEST_PRIORITY = 19
COMMAND = ("-m", "conversation_mcp", "index", "--meaning", "--background")


async def make_vectors_aside(settings: "Settings", owner: str) -> None:
    """Make the missing vectors of an owner in a process of its own, and wait for its end. It ends if this one does."""
    given = {
        variable_of("documents"): os.pathsep.join(map(str, settings.documents)),
        variable_of("embeddings"): settings.embeddings,
        variable_of("owner"): owner,
    }
    environment = {**os.environ, **given}
    quiet = subprocess.DEVNULL
    try:
        process = await anyio.open_process(
            command_for(settings),
            stdin=subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
            env=environment,
            start_new_session=True,
        )
    except OSError:
        return  # words are found all the same
    async with process:
        try:
            await process.wait()
        finally:
            with suppress(ProcessLookupError):
                process.terminate()


def command_for(settings: "Settings") -> list[str]:
    """Return the command of the process."""
    # As an option, because the folder would else lose to a store that the configuration file names.
    place = () if settings.store else ("--logs-dir", str(settings.logs_dir))
    return [sys.executable, *COMMAND, *place]


def take_background() -> None:
    """Make this a process of low priority that ends when its stdin does."""
    from threading import Thread

    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(LOWEST_PRIORITY)

    def end_with_stdin() -> None:
        with suppress(OSError):
            while os.read(sys.stdin.fileno(), 1):
                pass
        os._exit(0)  # what was written is written whole, and everything else is made again

    Thread(target=end_with_stdin, daemon=True).start()


def at_half_speed(
    steps: Iterable[object],
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.process_time,
) -> None:
    """Do the steps, and rest after each as long as it computed."""
    before = clock()
    for _ in steps:
        after = clock()
        sleep(after - before)
        before = clock()
