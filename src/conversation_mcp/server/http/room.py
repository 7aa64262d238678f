"""The memory that what owners send, or do not take, may hold together."""

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager

ALL_BYTES, OWNER_BYTES = 256 * 1024 * 1024, 64 * 1024 * 1024

Take = Callable[[int], bool]
"""Takes room for so many bytes; False if there is none."""


class Room:
    """Memory for all owners, and a part of it for each; what takes room where nothing else has any always gets it."""

    def __init__(self, all_bytes: int = ALL_BYTES, owner_bytes: int = OWNER_BYTES) -> None:
        self._all_bytes = all_bytes
        self._owner_bytes = owner_bytes
        self._taken = Counter[str]()

    @contextmanager
    def of(self, owner: str) -> Generator[Take]:
        """Yield what takes room for that owner; it is free again after the block."""
        taken = 0

        def take(size: int) -> bool:
            nonlocal taken
            limits = (self._taken[owner], self._owner_bytes), (self._taken.total(), self._all_bytes)
            if any(held > taken and held + size > limit for held, limit in limits):
                return False
            self._taken[owner] += size
            taken += size
            return True

        try:
            yield take
        finally:
            self._taken[owner] -= taken
            if not self._taken[owner]:
                del self._taken[owner]
