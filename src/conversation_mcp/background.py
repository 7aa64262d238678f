"""Work that is done aside whenever there may be some."""

from collections.abc import Awaitable, Callable

import anyio

MOST_WAITING = 10_000
"""Beyond this number of owners, further ones are not noted; each is woken again with what happens next."""


class Background:
    """Does the work of each owner after a wake for them, one owner at a time.

    Wakes before `run` and during the work count, too. After each it rests as long as that took.
    """

    def __init__(
        self, work: Callable[[str], Awaitable[object]], rest: Callable[[float], Awaitable[object]] = anyio.sleep
    ) -> None:
        self._work = work
        self._rest = rest
        self._waiting: dict[str, None] = {}
        self._is_woken: anyio.Event | None = None

    def wake(self, owner: str) -> None:
        """Say that there may be something to do for an owner. Must be called in the event loop."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting[owner] = None
        if self._is_woken:
            self._is_woken.set()

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            if not self._waiting:
                self._is_woken = anyio.Event()
                await self._is_woken.wait()
            owner = next(iter(self._waiting))
            del self._waiting[owner]
            began = anyio.current_time()
            await self._work(owner)
            await self._rest(anyio.current_time() - began)
