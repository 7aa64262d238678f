"""Work that must finish although its caller is cancelled, and tasks that end with the block beside which they run."""

from asyncio import get_running_loop
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import CancelScope, create_task_group
from anyio.abc import TaskGroup

THREADS = 40
"""How much that blocks is done at once, as in anyio: some of it waits for a lock."""

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
    """Finish work that blocks in a thread of the event loop, which is reached in a third of anyio's steps."""
    return await finish(get_running_loop().run_in_executor(None, work, *arguments))


def allow_threads() -> None:
    """Let the running event loop have as many threads as anyio would; by itself it has few on a small machine."""
    get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))


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
