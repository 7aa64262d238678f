"""Work that a cancelled caller must not cut in the middle."""

from collections.abc import Awaitable
from typing import TypeVar

from anyio import CancelScope
from anyio.lowlevel import checkpoint_if_cancelled

T = TypeVar("T")


async def finish(work: Awaitable[T]) -> T:
    """Await the work to its end even if the caller is cancelled meanwhile, who sees the cancellation then."""
    results: list[T] = []
    with CancelScope(shield=True):
        results.append(await work)
    await checkpoint_if_cancelled()
    return results[0]
