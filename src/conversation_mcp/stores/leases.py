"""Leases: locks in a store of several machines that lapse when their holder is not heard of.

All times are the store's, so the clocks of processes may differ. Each holder gets a fence that is higher than all
before it, and a lease that lapsed stays its holder's until somebody else takes it.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from threading import Event, Lock, Thread

from conversation_mcp.cancellation import in_thread
from conversation_mcp.errors import DatabaseError

LEASE_SECONDS = 20.0
RENEW_SECONDS = 4.0
POLL_SECONDS = 0.2
TURN = "turn:"
IMPORT = "import"


class Lease:
    """A lease in this process's hands."""

    def __init__(self, leases: "HeldLeases", name: str, fence: int) -> None:
        self._leases = leases
        self.name = name
        self.fence = fence

    def release(self) -> None:
        """Give it back; harmless if it was given back or lost before. Blocks."""
        self._leases.give_back(self)


class HeldLeases(ABC):
    """The leases of one owner that this process holds, renewed by a thread while there are any."""

    def __init__(self) -> None:
        self._held: dict[str, Lease] = {}
        self._guard = Lock()
        self._renewer: Thread | None = None
        self._is_idle = Event()

    @abstractmethod
    def renew(self, leases: Collection[Lease]) -> None:
        """Have them lapse later, but those that somebody else has. Raises DatabaseError."""

    @abstractmethod
    def free(self, lease: Lease) -> None:
        """Free the lease, unless somebody else has it by now. Raises DatabaseError."""

    def keep(self, lease: Lease | None) -> Lease | None:
        """Renew the lease from now on."""
        if lease is not None:
            with self._guard:
                self._held[lease.name] = lease
                if self._renewer is None:
                    self._is_idle.clear()
                    self._renewer = Thread(target=self._renew, name="leases", daemon=True)
                    self._renewer.start()
        return lease

    def held(self, name: str) -> Lease | None:
        """Return the lease of that name that this process took and did not give back; it may be lost."""
        return self._held.get(name)

    def give_back(self, lease: Lease) -> None:
        """Free the lease, unless somebody else has it by now; if the store is away, it lapses."""
        with self._guard:
            if self._held.get(lease.name) is not lease:
                return
            del self._held[lease.name]
            if not self._held:
                self._is_idle.set()
        try:
            self.free(lease)
        except DatabaseError:
            return

    def _renew(self) -> None:
        while not self._is_idle.wait(RENEW_SECONDS):
            try:
                self.renew(tuple(self._held.values()))
            except DatabaseError:  # it is tried again soon, and a lease that lapsed may still be free then
                continue
        with self._guard:
            self._renewer = None
            is_needed_again = bool(self._held)
        if is_needed_again:
            for lease in tuple(self._held.values()):
                self.keep(lease)


class HeldName:
    """A lease that stands for a name; satisfies TurnLock."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    async def release(self) -> None:
        """Give the name back; cancellation cannot interrupt it."""
        await in_thread(self._lease.release)


class HeldSeat:
    """A lease that stands for a seat; satisfies Share."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    async def leave(self) -> None:
        """Give the seat back; cancellation cannot interrupt it."""
        await in_thread(self._lease.release)


def turn_of(conversation_id: str) -> str:
    """Return the name of the lease of a turn."""
    return f"{TURN}{conversation_id}"


@contextmanager
def import_lease(take: Callable[[str], Lease | None], on_wait: Callable[[], None]) -> Generator[None]:
    """Hold the lease of imports, which `take` tries once; `on_wait` is called if somebody else has it. Blocks."""
    lease = take(IMPORT)
    if lease is None:
        on_wait()
    while lease is None:
        time.sleep(POLL_SECONDS)
        lease = take(IMPORT)
    try:
        yield
    finally:
        lease.release()
