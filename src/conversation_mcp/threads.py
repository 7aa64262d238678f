"""Threads of an event loop for work that blocks: how it gets there, and its result back."""

from asyncio import AbstractEventLoop, get_running_loop
from asyncio import Future as LoopFuture
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar, TypeVarTuple, Unpack
from weakref import WeakKeyDictionary

THREADS = 40
"""How much that blocks is done at once, as in anyio: some of it waits for a lock."""
THREADS_ALONE = 8
"""How many of them have a queue each."""

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
_threads_of = WeakKeyDictionary[AbstractEventLoop, "Threads"]()


def allow_threads() -> None:
    """Let the running event loop have as many threads as anyio would; by itself it has few on a small machine."""
    loop = get_running_loop()
    if loop not in _threads_of:  # the workers of threads that are replaced would never end
        _threads_of[loop] = threads = Threads(THREADS)
        loop.set_default_executor(threads)


def begun_in_thread(work: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> Awaitable[T]:
    """Begin work that blocks, in a thread of the event loop, which is reached without anyio's steps.

    Whoever begins it has to finish it, even if cancelled: see `in_thread`.
    """
    loop = get_running_loop()
    threads = _threads_of.get(loop)
    return threads.begin(work, *arguments) if threads else loop.run_in_executor(None, work, *arguments)


class Worker:
    """A thread that does one thing after the other, and hands each result straight to the event loop.

    A pool makes two futures for each, with locks, and takes twice as long for the way there and back.
    """

    def __init__(self, idle: list["Worker"]) -> None:
        """`idle` is where it is put when it is free."""
        self._idle = idle
        self._tasks = SimpleQueue[Callable[[], None] | None]()
        self._thread: Thread | None = None

    def begin(self, work: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> Awaitable[T]:
        """Begin the work, whose result comes even if nobody waits for it any more."""
        loop = get_running_loop()
        result: LoopFuture[T] = loop.create_future()
        if self._thread is None:
            self._thread = Thread(target=self._run, name="worker", daemon=True)
            self._thread.start()
        self._tasks.put(partial(self._do, loop, result, partial(work, *arguments)))
        return result

    def end(self) -> None:
        """Have it end after what it does."""
        self._tasks.put(None)

    def join(self) -> None:
        """Wait for that."""
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        for task in iter(self._tasks.get, None):
            task()
            del task  # what it holds is not kept until the next one comes

    def _do(self, loop: AbstractEventLoop, result: "LoopFuture[T]", work: Callable[[], T]) -> None:
        try:
            given = partial(result.set_result, work())
        except BaseException as error:  # noqa: BLE001 -- raised where the result is awaited
            given = partial(result.set_exception, error)
        self._idle.append(self)
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(_give, result, given)
        del result, given  # an error holds this frame, and must not hold itself


class Threads(ThreadPoolExecutor):
    """Threads of which the first few have a queue each; what comes while these are busy is done by the others.

    In a pool, the thread that takes the work wakes one that then finds nothing to do, and the two contend for the
    interpreter.
    """

    def __init__(self, count: int) -> None:
        alone = min(count, THREADS_ALONE)
        super().__init__(max(1, count - alone))
        self._idle: list[Worker] = []
        self._workers = [Worker(self._idle) for _ in range(alone)]
        self._idle += self._workers

    def begin(self, work: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> Awaitable[T]:
        """Have the work done by the thread that was busy last, or by the others."""
        try:
            worker = self._idle.pop()
        except IndexError:
            return get_running_loop().run_in_executor(self, work, *arguments)
        return worker.begin(work, *arguments)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT002 -- as its base
        """Take no more work, and wait for what is being done."""
        self._idle = []  # those who are busy go where nobody looks
        for worker in self._workers:
            worker.end()
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            for worker in self._workers:
                worker.join()


def _give(result: "LoopFuture[T]", given: Callable[[], None]) -> None:
    if not result.done():  # nobody has cancelled it
        given()
