"""The byte streams between client and server: stdin and stdout on descriptors of their own. All calls block."""

import os
import stat
import sys
from array import array
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NamedTuple


class Wire(NamedTuple):
    """The descriptors of a client's pipes."""

    reading: int
    writing: int

    def write(self, data: bytes) -> None:
        """Write all data; raise OSError if the other end is closed."""
        left = memoryview(data)
        while left:
            left = left[os.write(self.writing, left) :]

    def unread_bytes(self) -> int:
        """Return how many written bytes the client has not read yet; 0 if the system cannot tell."""
        return unread_bytes(self.writing)


def unread_bytes(descriptor: int) -> int:
    """Return how many bytes written to it were not read from a pipe or not acknowledged over a connection yet.

    0 if the system cannot tell.
    """
    try:
        import fcntl
        import termios
    except ImportError:
        return 0
    # Some clients connect the server by a socket pair instead of pipes; each kind has its own request.
    mode = os.fstat(descriptor).st_mode
    question = termios.FIONREAD if stat.S_ISFIFO(mode) else termios.TIOCOUTQ if stat.S_ISSOCK(mode) else None
    count = array("i", [0])
    if question is not None:
        with suppress(OSError):
            fcntl.ioctl(descriptor, question, count, True)  # noqa: FBT003 -- it is positional
    return count[0]


@contextmanager
def standard_streams() -> Generator[Wire]:
    """Reserve stdin and stdout for the protocol: other readers get an empty stdin, and other prints go to stderr."""
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
