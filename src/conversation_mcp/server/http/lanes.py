"""Lanes: the requests of one owner wait for each other, so that no number of them keeps another owner waiting."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio

AT_WORK = 16
"""How many requests of one owner are worked at at once; the next ones wait for their turn."""
SHARE_SECONDS = 1.0
"""What takes longer mostly waits for something itself, such as a provider, and no longer keeps the next one waiting."""
MOST_OPEN = 500
"""How many requests of one owner may be open, or others would find no connection free."""


class Lane:
    """The open requests of one owner, and those of them that wait for their turn, in order."""

    def __init__(self, at_work: int, share_seconds: float) -> None:
        self.open_count = 0
        self._free_count = at_work
        self._share_seconds = share_seconds
        self._waiting: deque[anyio.Event] = deque()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Callable[[], None]]:
        """Wait for the turn of a request, and yield what ends it; so do the end of the block and its share of time."""
        await self._come()
        is_over = False

        def end() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._pass_on()

        timer = asyncio.get_running_loop().call_later(self._share_seconds, end)
        try:
            yield end
        finally:
            timer.cancel()
            end()

    async def _come(self) -> None:
        if self._free_count:
            self._free_count -= 1
            return
        own = anyio.Event()
        self._waiting.append(own)
        try:
            await own.wait()
        except BaseException:
            if own.is_set():
                self._pass_on()
            else:
                self._waiting.remove(own)
            raise

    def _pass_on(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()
        else:
            self._free_count += 1


class Lanes:
    """The lanes of all owners who have open requests."""

    def __init__(
        self, *, at_work: int = AT_WORK, share_seconds: float = SHARE_SECONDS, most_open: int = MOST_OPEN
    ) -> None:
        self._at_work = at_work
        self._share_seconds = share_seconds
        self._most_open = most_open
        self._lanes: dict[str, Lane] = {}

    @contextmanager
    def of(self, owner: str) -> Generator[Lane | None]:
        """Yield the lane of an owner, with one request more for the length of the block; None if too many are open."""
        lane = self._lanes.get(owner) or Lane(self._at_work, self._share_seconds)
        if lane.open_count >= self._most_open:
            yield None
            return
        self._lanes[owner] = lane
        lane.open_count += 1
        try:
            yield lane
        finally:
            lane.open_count -= 1
            if not lane.open_count:
                del self._lanes[owner]
