"""News between the processes on one store: a connection of each listens, and tells what this process changed.

A notice says who and what in digests alone, and that somebody should look. Where the connection cannot be had, nobody
hears and all look as often as without it.
"""

import asyncio
import logging
import selectors
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from threading import Lock, Thread
from typing import Protocol

import anyio

from conversation_mcp.stores.ears import Ear, hear_nothing

LOOK_SECONDS = 2.0
"""Between two looks while news come: one may be lost all the same."""
AGAIN_SECONDS = (1.0, 5.0, 30.0)
"""Before the next try to connect; the last one counts from then on."""
ENDING_SECONDS = 2.0
MOST_UNTOLD = 1_000
"""While nobody can be told; they look by themselves."""

logger = logging.getLogger(__name__)


class NewsLostError(Exception):
    """The connection could not be made, or broke; it is worth another try."""


class NoNewsError(Exception):
    """No connection to this address will ever hear anything."""


class Listening(Protocol):
    """A connection that listens. Every call blocks and raises NewsLostError."""

    def fileno(self) -> int:
        """Return what becomes readable when there is something to hear."""
        ...

    def heard(self) -> Iterable[str]:
        """Return the notices that have come since the last time, without waiting."""
        ...

    def tell(self, notices: Sequence[str]) -> None:
        """Send notices to all processes, this one included."""
        ...

    def close(self) -> None:
        """End it. Raises nothing."""
        ...


class OpenEar:
    """Satisfies Ear."""

    def __init__(self, hub: "NewsHub") -> None:
        self._hub = hub
        self._loop = asyncio.get_running_loop()
        self._news = anyio.Event()

    def wake(self) -> None:
        """Bring news, from any thread."""
        with suppress(RuntimeError):  # its loop has ended
            self._loop.call_soon_threadsafe(self._bring)

    async def pause(self, seconds: float) -> None:
        """Wait for news, that long or until the next look."""
        with anyio.move_on_after(max(seconds, LOOK_SECONDS) if self._hub.is_listening else seconds):
            await self._news.wait()
        if self._news.is_set():
            self._news = anyio.Event()

    def _bring(self) -> None:
        self._news.set()


class NewsHub:
    """The listening of this process, which begins with the first use, in a thread of its own."""

    def __init__(self, listen: Callable[[], Listening]) -> None:
        """`listen` makes the connection; it blocks and raises NewsLostError or NoNewsError."""
        self.is_listening = self.is_off = False
        self._listen = listen
        self._guard = Lock()
        self._ears: defaultdict[str, set[OpenEar]] = defaultdict(set)
        self._untold: set[str] = set()
        self._thread: Thread | None = None
        self._is_ending = False
        self._woken, self._waker = socket.socketpair()
        self._waker.settimeout(0)

    def tell(self, owner: str, name: str) -> None:
        """Tell all processes, this one included, that something of that name has changed."""
        with self._guard:
            if self.is_off or len(self._untold) >= MOST_UNTOLD:
                return
            self._untold.add(f"{_digest(owner)}.{_digest(owner, name)}")
        self._begin()
        self._wake()

    @contextmanager
    def hear(self, owner: str, name: str | None) -> Generator[Ear]:
        """Open an ear for what has that name, or for all of the owner."""
        key, ear = _digest(owner) if name is None else _digest(owner, name), OpenEar(self)
        with self._guard:
            self._ears[key].add(ear)
        self._begin()
        try:
            yield ear
        finally:
            with self._guard:
                self._ears[key].discard(ear)
                if not self._ears[key]:
                    del self._ears[key]

    def close(self) -> None:
        """Tell what is left, if that is possible soon, and end the connection. Blocks."""
        self._is_ending = True
        self._wake()
        if self._thread:
            self._thread.join(ENDING_SECONDS)
            if self._thread.is_alive():
                return
        self._woken.close()
        self._waker.close()

    def _begin(self) -> None:
        with self._guard:
            if self._thread is None and not self._is_ending:
                self._thread = Thread(target=self._run, name="news", daemon=True)
                self._thread.start()

    def _wake(self) -> None:
        with suppress(OSError):  # it has much to read already, or has ended
            self._waker.send(b".")

    def _run(self) -> None:
        failures = 0
        while not self._is_ending:
            try:
                with closing(self._listen()) as listening:
                    failures = 0
                    self._change(is_listening=True)
                    self._serve(listening)
            except NewsLostError as error:
                logger.debug("no news from other processes: %s", type(error.__cause__).__name__)
            except NoNewsError:
                self.is_off = True
                return
            finally:
                self._change(is_listening=False)
            if not self._is_ending:
                self._rest(AGAIN_SECONDS[min(failures, len(AGAIN_SECONDS) - 1)])
                failures += 1

    def _serve(self, listening: Listening) -> None:
        while True:
            for notice in listening.heard():
                self._heard(notice)
            with self._guard:
                untold, self._untold = self._untold, set()
            if untold:
                listening.tell([*untold])
            elif self._is_ending:
                return
            else:
                self._wait(None, listening.fileno())

    def _heard(self, notice: str) -> None:
        with self._guard:
            ears = [ear for key in notice.split(".") for ear in self._ears.get(key, ())]
        for ear in ears:
            ear.wake()

    def _change(self, *, is_listening: bool) -> None:
        """Have all look, because of what they may have missed, and what is told to nobody forgotten."""
        with self._guard:
            self.is_listening = is_listening
            if not is_listening:
                self._untold.clear()
            ears = [ear for of_key in self._ears.values() for ear in of_key]
        for ear in ears:
            ear.wake()

    def _rest(self, seconds: float) -> None:
        """Wait that long, or until it ends."""
        until = time.monotonic() + seconds
        while not self._is_ending and (left := until - time.monotonic()) > 0:
            self._wait(left)

    def _wait(self, seconds: float | None, *sources: int) -> None:
        """Wait until somebody wakes the thread or a source can be read."""
        with selectors.DefaultSelector() as selector:
            for source in (self._woken, *sources):
                selector.register(source, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select(seconds)]
        if self._woken in ready:
            self._woken.recv(4096)


class OwnerNews:
    """The news of one owner; without a hub, there are none."""

    def __init__(self, hub: NewsHub | None, owner: str) -> None:
        self._hub = hub
        self._owner = owner

    def tell(self, name: str) -> None:
        """Tell that something of that name has changed."""
        if self._hub:
            self._hub.tell(self._owner, name)

    @contextmanager
    def hear(self, name: str | None) -> Generator[Ear]:
        """Open an ear for what has that name, or for all."""
        with self._hub.hear(self._owner, name) if self._hub else hear_nothing() as ear:
            yield ear


def _digest(*words: str) -> str:
    return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
