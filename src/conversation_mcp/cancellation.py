"""Work that must finish although its caller is cancelled, and tasks that end with the block beside which they run."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import CancelScope, create_task_group
from anyio.abc import TaskGroup

from conversation_mcp.threads import begun_in_thread

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


async def finish(work: Awaitable[T]) -> T:
    """Finish the work and return its result, even if the caller is cancelled; that shows at the caller's next await."""
    # A scope may swallow a cancellation, so for a type checker nothing assigned or returned in its block is certain.
    results: list[T] = []
    with CancelScope(shield=True):
        results.append(await work)
    return results[0]


async def in_thread(work: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
    """Finish work that blocks, in a thread of the event loop."""
    return await finish(begun_in_thread(work, *arguments))


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
