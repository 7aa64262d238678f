"""Work that must finish although its caller is cancelled, and tasks that end with the block beside which they run."""

from asyncio import get_running_loop
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar, TypeVarTuple, Unpack

from anyio import CancelScope, create_task_group
from anyio.abc import TaskGroup

THREADS = 40
"""How much that blocks is done at once, as in anyio: some of it waits for a lock."""
THREADS_ALONE = 8
"""How many of them have a queue each."""

T = TypeVar("T")
P = ParamSpec("P")
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
    return await finish(begun_in_thread(work, *arguments))


def begun_in_thread(work: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> Awaitable[T]:
    """Begin the same, for a caller that finishes it together with what comes before and after."""
    return get_running_loop().run_in_executor(None, work, *arguments)


class Threads(ThreadPoolExecutor):
    """Threads of which the first few have a queue each; what comes while these are busy is done by the others.

    In a pool, the thread that takes the work wakes one that then finds nothing to do, and the two contend for the
    interpreter.
    """

    def __init__(self, count: int) -> None:
        alone = min(count, THREADS_ALONE)
        super().__init__(max(1, count - alone))
        self._alone = [ThreadPoolExecutor(1) for _ in range(alone)]
        self._idle = list(self._alone)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have the work done by the thread that was busy last, or by the others."""
        try:
            one = self._idle.pop()
        except IndexError:
            return super().submit(fn, *args, **kwargs)
        future = one.submit(fn, *args, **kwargs)
        future.add_done_callback(lambda _: self._idle.append(one))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT002 -- as its base
        """Take no more work, and wait for what is being done."""
        for pool in self._alone:
            pool.shutdown(wait, cancel_futures=cancel_futures)
        super().shutdown(wait, cancel_futures=cancel_futures)


def allow_threads() -> None:
    """Let the running event loop have as many threads as anyio would; by itself it has few on a small machine."""
    get_running_loop().set_default_executor(Threads(THREADS))


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
