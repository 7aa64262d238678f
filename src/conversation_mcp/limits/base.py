"""The port of limits, which hold across all processes that use the same store."""

from typing import NamedTuple, Protocol


class Rate(NamedTuple):
    """How often something may be done; after a pause, up to `amount` times in a row."""

    amount: int
    per_seconds: float = 60.0


class Share(Protocol):
    """One of a limited number of things that may go on at once; it ends with its process."""

    async def leave(self) -> None:
        """Make room for another; harmless if it was left before."""
        ...


class OwnerCounts(Protocol):
    """Counts what owners do, by kind."""

    async def take(self, owner: str, kind: str, rate: Rate, count: int = 1) -> float:
        """Count so many, at most as many as the rate allows in a row, and return 0.

        If there are not that many, count nothing and return in how many seconds there will be.
        """
        ...

    async def sit(self, owner: str, kind: str, most: int) -> Share | None:
        """Take a seat; None if that many are taken."""
        ...
