"""Work that must finish although its caller is cancelled."""

from collections.abc import Awaitable
from typing import TypeVar

from anyio import CancelScope

T = TypeVar("T")


async def finish(work: Awaitable[T]) -> T:
    """Finish the work and return its result, even if the caller is cancelled; that shows at the caller's next await."""
    # A scope may swallow a cancellation, so for a type checker nothing assigned or returned in its block is certain.
    results: list[T] = []
    with CancelScope(shield=True):
        results.append(await work)
    return results[0]
