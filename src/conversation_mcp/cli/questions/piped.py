"""What comes through stdin beside a question that was typed, or in its place."""

import os
import stat
import sys
import threading
from collections.abc import Callable

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.usage import WrongUsageError

PIECE_BYTES = 1 << 16
UTF_8_BYTES = 4
"""So many bytes a character has at most."""
UNSAID_SECONDS, SILENT_SECONDS = 0.5, 5.0
WAITING = (
    "Nothing has come through the pipe yet. It is waited for 5 s, then the question goes without it; "
    "with - beside the question it is waited for as long as it takes, with </dev/null not at all."
)

Wait = Callable[[threading.Event, float], bool]
"""Waits for an event for so many seconds, and tells whether it has come."""


def is_given(descriptor: int) -> bool:
    """Tell whether the descriptor leads to a file or a pipe; agents' shells also take sockets for pipes."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def read_text(descriptor: int, max_chars: int, *, patient: bool, wait: Wait = threading.Event.wait) -> str:
    """Return the text that comes until the end; nothing where a pipe stays silent and nobody said that it will speak.

    Raises:
        WrongUsageError: it is longer than any question may be.
    """
    reading = _PipedText(descriptor, max_chars * UTF_8_BYTES)
    if not patient and not wait(reading.began, UNSAID_SECONDS):
        say(WAITING)
        if not wait(reading.began, SILENT_SECONDS - UNSAID_SECONDS):
            return ""
    reading.ended.wait()
    text = reading.body.decode("utf-8-sig", errors="replace").strip()
    if reading.is_cut or len(text) > max_chars:
        raise WrongUsageError(f"what came through stdin is longer than a question may be, {max_chars:,} characters.")
    return text


def stdin_text(max_chars: int, *, patient: bool) -> str:
    """Return what came through stdin; nothing where it is a terminal, closed, or the null device."""
    try:
        descriptor = sys.stdin.fileno()
    except OSError:  # somebody has put something in its place that is no file
        return ""
    return read_text(descriptor, max_chars, patient=patient) if is_given(descriptor) else ""


class _PipedText:
    """Reads in a thread that nobody needs to wait for, because a system may not tell whether a pipe has something."""

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
        except OSError:  # nobody can read it, as with a socket that was reset; what came before counts
            pass
        finally:
            self.began.set()
            self.ended.set()
