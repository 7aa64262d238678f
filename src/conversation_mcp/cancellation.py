"""Work that must finish although its caller is cancelled, and tasks that end with the block beside which they run."""

from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar

from anyio import CancelScope, create_task_group
from anyio.abc import TaskGroup

T = TypeVar("T")


async def finish(work: Awaitable[T]) -> T:
    """Finish the work and return its result, even if the caller is cancelled; that shows at the caller's next await."""
    # A scope may swallow a cancellation, so for a type checker nothing assigned or returned in its block is certain.
    results: list[T] = []
    with CancelScope(shield=True):
        results.append(await work)
    return results[0]


@asynccontextmanager
async def tasks_beside() -> AsyncGenerator[TaskGroup]:
    """Run tasks until the block ends; an error of the block is raised as it came, and not in a group."""
    failure: Exception | None = None
    async with create_task_group() as tasks:
        try:
            yield tasks
        except Exception as error:  # noqa: BLE001 -- raised below
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
