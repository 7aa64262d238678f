"""Work that blocks: it is finished whatever becomes of its caller, and much of it is done at once."""

import threading
from pathlib import Path

import anyio

from conversation_mcp.bootstrap import open_program
from conversation_mcp.cancellation import THREADS, in_thread
from conversation_mcp.settings import Settings


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
