"""The waiters and listeners of a turn: the progress they hear, and the bell that wakes them."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import anyio

from conversation_mcp.turns.ask import Caller, OnText

HEARTBEAT_SECONDS = 5.0
SHOWN_PROGRESS_CHARS = 160


class Audience:
    """The waiters and listeners of one turn. The code that works on the turn reports to them."""

    def __init__(self) -> None:
        self.doing = "starting"
        self.bell = anyio.Event()
        self._waiters = 0
        self._gone: list[Callable[[], Awaitable[bool]]] = []
        self._is_promised = False
        self._listeners: list[OnText] = []
        self._started_seconds = anyio.current_time()

    @property
    def is_empty(self) -> bool:
        """Whether nobody waits."""
        return not self._waiters

    @property
    def elapsed_seconds(self) -> float:
        """How long the turn has been running."""
        return anyio.current_time() - self._started_seconds

    @property
    def headline(self) -> str:
        """The line that a waiting person reads: the current step and the time so far."""
        return f"{self.doing} ({self.elapsed_seconds:.0f} s)"

    @contextmanager
    def attended(self, caller: Caller) -> Generator[None]:
        """Count one more waiter during the block; its `on_text` hears the text until the turn ends, even after that."""
        self._waiters += 1
        self._gone.append(caller.is_gone)
        if caller.on_text:
            self._listeners.append(caller.on_text)
        try:
            yield
        finally:
            self._waiters -= 1

    def promise(self) -> None:
        """Note that a waiter leaves who was told to come back for the answer."""
        self._is_promised = True

    async def is_gone(self) -> bool:
        """Tell whether all clients are gone, and none of them was told to come back for the answer."""
        asked = 0
        while not self._is_promised and asked < len(self._gone):  # one more may come while another is asked
            if not await self._gone[asked]():
                return False
            asked += 1
        return bool(asked) and not self._is_promised

    def report(self, doing: str) -> None:
        """Announce the current step to all waiters."""
        self.doing = doing[:SHOWN_PROGRESS_CHARS]
        self.ring()

    async def report_queue(self, waited_seconds: float) -> None:
        """Announce that another turn on the conversation goes first."""
        self.report(f"waiting for another follow-up, {waited_seconds:.0f} s")

    def tell(self, text: str, *, replaces: bool) -> None:
        """Pass on the next piece of the answer's text."""
        for listen in self._listeners:
            listen(text, replaces)

    def ring(self) -> None:
        """Wake all waiters, so that they look again."""
        # An event rings once: the waiters have the old one in hand, the next ring needs a new one.
        self.bell.set()
        self.bell = anyio.Event()

    async def until(self, is_over: Callable[[], bool]) -> None:
        """Wait until the condition holds; it is checked at each ring."""
        while not is_over():
            await self.bell.wait()
