"""Work that a cancelled caller must not cut in the middle: the one way to finish it."""

from collections.abc import Awaitable
from typing import TypeVar

from anyio import CancelScope

T = TypeVar("T")


async def finish(work: Awaitable[T]) -> T:
    """Return what the work returns, even to a caller who is cancelled meanwhile and will see that when next waiting."""
    results: list[T] = []
    with CancelScope(shield=True):
        results.append(await work)
    return results[0]
