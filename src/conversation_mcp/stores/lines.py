"""Queues inside the process, one for each key, first come first served."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from anyio import Event


class Lines:
    """The queues; an empty one takes no memory."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[Event]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def join(self, key: str) -> "PlaceInLine":
        """Take the last place in the queue of the key."""
        return PlaceInLine(self._lines, key)

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncGenerator[None]:
        """Wait in the queue, and be first in it during the block."""
        place = self.join(key)
        try:
            await place.wait()
            yield
        finally:
            place.leave()


class PlaceInLine:
    """A place in a queue; the first may proceed. Any task may give it up, not only the one that took it."""

    def __init__(self, lines: dict[str, deque[Event]], key: str) -> None:
        self._lines = lines
        self._key = key
        self._turn = Event()
        line = lines.setdefault(key, deque())
        line.append(self._turn)
        line[0].set()  # harmless if it is set already; it lets the first of an empty queue go on

    @property
    def is_first(self) -> bool:
        """Whether all places before this one were given up."""
        return self._turn.is_set()

    async def wait(self) -> None:
        """Wait to be first; a cancelled wait keeps the place and can be resumed."""
        if not self._turn.is_set():
            await self._turn.wait()

    def leave(self) -> None:
        """Give up the place; harmless if it was given up before."""
        line = self._lines.get(self._key, deque())
        if self._turn not in line:
            return
        line.remove(self._turn)
        if line:
            line[0].set()
        else:
            del self._lines[self._key]
