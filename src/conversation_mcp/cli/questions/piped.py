"""What comes from stdin: text that goes with a typed question or is the question, or a file."""

import os
import stat
import sys
import threading
from collections.abc import Callable

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.errors import InvalidInputError

PIECE_BYTES = 1 << 16
MAX_FILE_BYTES = 32 << 20
"""The longest pipe that is read as a file."""
UTF_8_BYTES = 4
"""The most bytes of a character."""
UNSAID_SECONDS, SILENT_SECONDS = 0.5, 5.0
"""A silent pipe is mentioned after the first time and given up after the second: shells of agents leave one open."""
WAITING = (
    "Nothing has come through the pipe yet. The question waits 5 s for it and then goes without it. "
    "Add - to wait as long as it takes, or </dev/null not to wait."
)

Wait = Callable[[threading.Event, float], bool]
"""Waits for an event for some seconds, and tells whether it was set."""


def is_given(descriptor: int) -> bool:
    """Tell whether the descriptor is a file or a pipe; shells of agents also use sockets as pipes."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def read_text(descriptor: int, max_chars: int, *, patient: bool, wait: Wait = threading.Event.wait) -> str:
    """Return the text up to the end of the input; an empty one if a pipe stays silent and `patient` is not set.

    Raises:
        InvalidInputError: the text is longer than a question may be.
    """
    reading = _PipedBytes(descriptor, max_chars * UTF_8_BYTES)
    if not patient and not wait(reading.began, UNSAID_SECONDS):
        say(WAITING)
        if not wait(reading.began, SILENT_SECONDS - UNSAID_SECONDS):
            return ""
    reading.ended.wait()
    text = reading.body.decode("utf-8-sig", errors="replace").strip()  # -sig drops a byte order mark
    if reading.is_cut or len(text) > max_chars:
        raise InvalidInputError(f"the text from stdin is longer than a question may be, {max_chars:,} characters.")
    return text


def stdin_bytes(max_bytes: int = MAX_FILE_BYTES) -> bytes | None:
    """Return what comes through stdin, waiting as long as it takes; None if stdin is no pipe and no file.

    Raises:
        InvalidInputError: it is longer than `max_bytes`.
    """
    descriptor = _stdin()
    if descriptor is None:
        return None
    reading = _PipedBytes(descriptor, max_bytes)
    reading.ended.wait()
    if reading.is_cut:
        raise InvalidInputError(f"more than {max_bytes >> 20:,} MiB came through the pipe; name a file of its lines.")
    return bytes(reading.body)


def stdin_text(max_chars: int, *, patient: bool) -> str:
    """Return the text from stdin; an empty one if stdin is a terminal, closed, or the null device."""
    descriptor = _stdin()
    return "" if descriptor is None else read_text(descriptor, max_chars, patient=patient)


def _stdin() -> int | None:
    """Return the descriptor of stdin if that is a pipe or a file."""
    try:
        descriptor = sys.stdin.fileno()
    except OSError:  # replaced by an object that has no descriptor
        return None
    return descriptor if is_given(descriptor) else None


class _PipedBytes:
    """Reads a pipe in a daemon thread, because not every system can tell whether a pipe has data."""

    def __init__(self, descriptor: int, max_bytes: int) -> None:
        self.body = bytearray()
        self.is_cut = False
        self.began, self.ended = threading.Event(), threading.Event()
        threading.Thread(target=self._read, args=(descriptor, max_bytes), daemon=True).start()

    def _read(self, descriptor: int, max_bytes: int) -> None:
        try:
            while (piece := os.read(descriptor, PIECE_BYTES)) and not self.is_cut:
                self.body += piece
                self.began.set()
                self.is_cut = len(self.body) > max_bytes
        except OSError:  # such as a reset socket; the text before it counts
            pass
        finally:
            self.began.set()
            self.ended.set()
