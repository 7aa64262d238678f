"""The bytes between client and server: stdin and stdout on numbers of their own. The calls here block."""

import os
import stat
import sys
from array import array
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Wire:
    """The descriptors of a client's pipes."""

    reading: int
    writing: int

    def write(self, data: bytes) -> None:
        """Write all of it; raises OSError when nobody can read it any more."""
        left = memoryview(data)
        while left:
            left = left[os.write(self.writing, left) :]

    def unread_bytes(self) -> int:
        """Return how much of what was written the client has not taken yet; 0 where the system cannot tell."""
        try:
            import fcntl
            import termios
        except ImportError:
            return 0
        mode = os.fstat(self.writing).st_mode
        question = termios.FIONREAD if stat.S_ISFIFO(mode) else termios.TIOCOUTQ if stat.S_ISSOCK(mode) else None
        count = array("i", [0])
        if question is not None:
            with suppress(OSError):
                fcntl.ioctl(self.writing, question, count, True)  # noqa: FBT003 -- it is positional
        return count[0]


@contextmanager
def standard_streams() -> Generator[Wire]:
    """Take stdin and stdout for the protocol alone: whatever else reads finds nothing, what else prints hits stderr."""
    sys.stdout.flush()
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield wire
    finally:
        os.dup2(wire.reading, 0)
        os.dup2(wire.writing, 1)
