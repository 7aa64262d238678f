"""Work that blocks: it is finished whatever becomes of its caller, and much of it is done at once."""

import asyncio
import gc
import threading
import weakref
from pathlib import Path

import anyio

from conversation_mcp.bootstrap import open_program
from conversation_mcp.cancellation import in_thread
from conversation_mcp.settings import Settings
from conversation_mcp.threads import THREADS, allow_threads, begun_in_thread


async def test_work_in_a_thread_is_finished_although_its_caller_is_cancelled() -> None:
    results: list[int] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        results.append(await in_thread(sum, (1, 2)))
        await anyio.sleep_forever()
    assert results == [3]


async def test_what_waits_in_threads_of_a_program_does_not_keep_others_waiting(tmp_path: Path) -> None:
    is_over = threading.Event()
    async with open_program(Settings(logs_dir=tmp_path), providers=()), anyio.create_task_group() as tasks:
        for _ in range(THREADS - 1):
            tasks.start_soon(in_thread, is_over.wait)
        await anyio.wait_all_tasks_blocked()
        try:
            with anyio.fail_after(10):
                assert await in_thread(sum, (1, 2)) == 3
        finally:
            is_over.set()


async def test_what_comes_one_after_the_other_is_done_by_one_thread(tmp_path: Path) -> None:
    both = threading.Barrier(2)
    async with open_program(Settings(logs_dir=tmp_path), providers=()):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(in_thread, both.wait)
            tasks.start_soon(in_thread, both.wait)
        assert len({await in_thread(threading.get_ident) for _ in range(50)}) == 1


def test_an_error_in_a_thread_is_raised_where_its_result_is_awaited_and_does_not_hold_itself() -> None:
    class KeptError(Exception):
        """One whose end can be seen."""

    def fail() -> None:
        raise KeptError

    async def main() -> "weakref.ref[BaseException] | None":
        allow_threads()
        try:
            await begun_in_thread(fail)
        except KeptError as error:
            return weakref.ref(error)
        return None

    gc.disable()
    try:
        error = asyncio.run(main())
        assert error is not None
        assert error() is None
    finally:
        gc.enable()


def test_an_event_loop_ends_after_what_is_being_done_in_its_threads() -> None:
    release, done = threading.Event(), list[int]()

    def count() -> None:
        release.wait()
        done.extend(sum(range(number)) for number in range(2_000))

    async def main() -> None:
        allow_threads()
        begun_in_thread(count)
        release.set()

    asyncio.run(main())
    assert len(done) == 2_000


def test_a_second_program_in_an_event_loop_leaves_no_threads_of_the_first() -> None:
    async def used_twice() -> None:
        for _ in range(2):
            allow_threads()
            await in_thread(sum, (1, 2))

    before = threading.active_count()
    asyncio.run(used_twice())
    assert threading.active_count() == before


def test_what_comes_for_nobody_harms_nobody() -> None:
    release, problems = threading.Event(), list[object]()

    async def main() -> int:
        allow_threads()
        asyncio.get_running_loop().set_exception_handler(lambda _, problem: problems.append(problem))
        begun = asyncio.ensure_future(begun_in_thread(release.wait))
        begun.cancel()
        release.set()
        return [await begun_in_thread(sum, (1, number)) for number in range(20)][-1]

    assert asyncio.run(main()) == 20
    assert not problems
