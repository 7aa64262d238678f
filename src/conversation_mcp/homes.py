"""The homes that are open: what is needed to serve an owner's conversations, from its first use until it is idle."""

import gc
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Generic, Protocol, TypeVar

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from conversation_mcp.app import App, UserHomes
from conversation_mcp.cancellation import tasks_beside
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.catalog import owners_in

IDLE_SECONDS = 120.0
LOOK_EVERY_SECONDS = 5.0
MOST_OPEN = 250
"""Beyond this number, the home that has been idle longest is closed to open another one.

To open one takes less than to answer a question, and to keep one open takes more than 100 KiB.
"""
CLOSED_TOGETHER = 100
"""How many homes close before their memory is given back.

They are circles of objects, for which Python seldom looks, and in a process that serves even less often (`garbage.py`).
One search costs as much as some five questions.
"""

HomeT = TypeVar("HomeT")

Note = Callable[[str, str, Sequence[str]], object]
"""Notes the owner, the action and the ids in the audit trail; blocks."""

logger = logging.getLogger(__name__)


class _Place(Generic[HomeT]):
    """The home of one owner, which is open or will be soon."""

    def __init__(self) -> None:
        self.home: HomeT | None = None
        self.use_count = 0
        self.idle_since = anyio.current_time()
        self.wish_to_close = anyio.Event()
        self.is_open = anyio.Event()
        self.failure: Exception | None = None
        self.closed = anyio.Event()


class Homes(Generic[HomeT]):
    """Opens the home of an owner when it is used, and closes homes in which nothing happens any more."""

    def __init__(
        self,
        open_home: Callable[[str], AbstractAsyncContextManager[HomeT]],
        is_busy: Callable[[HomeT], bool],
        tasks: TaskGroup,
        *,
        idle_seconds: float = IDLE_SECONDS,
        most_open: int = MOST_OPEN,
    ) -> None:
        """Prepare the homes; one that `is_busy` stays open although nobody uses it."""
        self._open_home = open_home
        self._is_busy = is_busy
        self._tasks = tasks
        self._idle_seconds = idle_seconds
        self._most_open = most_open
        self._places: dict[str, _Place[HomeT]] = {}
        self._closed_count = 0

    def __len__(self) -> int:
        """Return how many homes are open."""
        return len(self._places)

    def opened(self) -> tuple[HomeT, ...]:
        """Return the homes that are open now."""
        return tuple(place.home for place in self._places.values() if place.home is not None)

    @asynccontextmanager
    async def of(self, owner: str) -> AsyncGenerator[HomeT]:
        """Yield the owner's home, which stays open for the length of the block.

        Raises:
            Exception: the home cannot be opened.
        """
        place = await self._chosen(owner)
        place.use_count += 1  # before anything is awaited, or the home might close
        try:
            await place.is_open.wait()
            if place.home is None:
                raise place.failure or RuntimeError("a home closed before it was open")
            yield place.home
        finally:
            place.use_count -= 1
            place.idle_since = anyio.current_time()

    async def run(self) -> None:
        """Close idle homes until cancelled."""
        while True:
            await anyio.sleep(min(LOOK_EVERY_SECONDS, self._idle_seconds))
            since = anyio.current_time() - self._idle_seconds
            for place in tuple(self._places.values()):
                if place.idle_since <= since and not self._is_used(place):
                    place.wish_to_close.set()

    async def close(self) -> None:
        """Close all homes."""
        for place in tuple(self._places.values()):
            place.wish_to_close.set()
        for place in tuple(self._places.values()):
            await place.closed.wait()

    async def _chosen(self, owner: str) -> _Place[HomeT]:
        while (place := self._places.get(owner)) and place.wish_to_close.is_set():
            await place.closed.wait()
        if place is None:
            self._make_room()
            place = self._places[owner] = _Place()
            self._tasks.start_soon(self._keep, owner, place)
        return place

    def _is_used(self, place: _Place[HomeT]) -> bool:
        is_busy = place.home is not None and self._is_busy(place.home)
        return place.use_count > 0 or not place.is_open.is_set() or is_busy

    def _make_room(self) -> None:
        staying = [place for place in self._places.values() if not place.wish_to_close.is_set()]
        idle = sorted((place for place in staying if not self._is_used(place)), key=lambda place: place.idle_since)
        for place in idle[: max(0, len(staying) - self._most_open + 1)]:
            place.wish_to_close.set()

    async def _keep(self, owner: str, place: _Place[HomeT]) -> None:
        """Keep the home open until it is wished to close; a task of its own, because its services are entered here."""
        try:
            async with self._open_home(owner) as place.home:
                place.is_open.set()
                await place.wish_to_close.wait()
        except Exception as error:  # noqa: BLE001 -- raised to those who wait for the home
            place.failure = error
            logger.warning("a home cannot be kept open: %s", error)
        finally:
            place.home = None
            place.wish_to_close.set()
            del self._places[owner]
            place.is_open.set()
            place.closed.set()
            self._closed_count += 1
            if self._closed_count % CLOSED_TOGETHER == 0:
                gc.collect()


class OwnersHomes:
    """The homes of all owners, of which the program's own is open anyway; satisfies UserHomes."""

    def __init__(
        self, open_home: Callable[[str], AbstractAsyncContextManager[App]], note: Note, tasks: TaskGroup
    ) -> None:
        self._note = note
        self._homes = Homes(open_home, lambda app: app.is_busy(), tasks)
        self.own: App | None = None
        tasks.start_soon(self._homes.run)
        self.close = self._homes.close

    @asynccontextmanager
    async def of(self, owner: str) -> AsyncGenerator[App]:
        """Yield the services of an owner; raises as `Homes.of`."""
        if self.own is not None and owner == self.own.owner:
            yield self.own
            return
        async with self._homes.of(owner) as app:
            yield app

    async def note(self, owner: str, action: str, targets: Sequence[str]) -> None:
        """Note what is done in the home of a user; nothing for the program's own."""
        if self.own is None or owner != self.own.owner:
            await to_thread.run_sync(self._note, owner, action, targets)

    async def finish(self, grace_seconds: float) -> None:
        """Let running turns finish within that time, or interrupt them; but not those of the program's own home."""
        async with anyio.create_task_group() as tasks:
            for app in self._homes.opened():
                tasks.start_soon(app.running.finish, grace_seconds)


class OpenHome(Protocol):
    """Opens the services of an owner, which reach those of others through `homes`."""

    def __call__(self, owner: str, *, homes: UserHomes) -> AbstractAsyncContextManager[App]:
        """Return what opens them."""
        ...


@asynccontextmanager
async def open_all(open_home: OpenHome, owner: str, note: Note) -> AsyncGenerator[App]:
    """Open the services of an owner, from which all other homes are opened when they are used."""
    async with tasks_beside() as tasks:
        homes = OwnersHomes(lambda other: open_home(other, homes=homes), note, tasks)
        try:
            async with open_home(owner, homes=homes) as homes.own:
                yield homes.own
        finally:
            await homes.close()


async def holders_of(url: str, conversation_id: ConversationId) -> list[str]:
    """Return the owners in a store who have, or have reserved, that id."""
    return await to_thread.run_sync(lambda: [*owners_in(url, conversation_id)])
