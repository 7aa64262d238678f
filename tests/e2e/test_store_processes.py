"""Several processes on one folder, and processes that die in the middle."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from anyio import create_task_group, to_thread
from tests.fixtures.stores import (
    Clock,
    appended,
    child,
    content,
    conversation,
    ignore,
    run_child,
    started,
    texts_of,
    tree,
)

from conversation_mcp.errors import ConversationBusyError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.store import FileStore

PROCESSES = 4


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "logs"


@pytest.fixture
def store(root: Path) -> FileStore:
    return FileStore(root, now=Clock())


@contextmanager
def holder(root: Path, conversation_id: str) -> Generator["subprocess.Popen[str]"]:
    """Run a process that holds the turn lock until it is killed or gets a line."""
    process = child("hold", root, conversation_id)
    try:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def write_line(process: "subprocess.Popen[str]") -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def finish(process: "subprocess.Popen[str]") -> str:
    output, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    return output


@pytest.mark.slow
async def test_ids_that_four_processes_take_in_the_same_millisecond_all_differ(store: FileStore, root: Path) -> None:
    processes = [child("start", root, "50") for _ in range(PROCESSES)]
    outputs = [await to_thread.run_sync(finish, process) for process in processes]
    taken = [ConversationId(line) for output in outputs for line in output.split()]
    assert len(set(taken)) == PROCESSES * 50
    for conversation_id in taken:
        assert await store.load(conversation_id) == conversation(conversation_id, "Hello?")


@pytest.mark.slow
async def test_four_processes_lose_nothing_and_a_reader_never_sees_it_shrink_or_break(
    store: FileStore, root: Path
) -> None:
    conversation_id = await started(store)
    processes = [child("append", root, conversation_id, "50", str(number)) for number in range(PROCESSES)]
    seen: list[list[str]] = []

    async def read() -> None:
        while True:
            seen.append(texts_of(await store.load(conversation_id)))

    async with create_task_group() as group:
        group.start_soon(read)
        for process in processes:
            await to_thread.run_sync(finish, process)
        group.cancel_scope.cancel()
    last = texts_of(await store.load(conversation_id))
    assert sorted(last[1:]) == sorted(f"{name}-{number}" for name in range(PROCESSES) for number in range(50))
    for name in range(PROCESSES):
        own = [text for text in last if text.startswith(f"{name}-")]
        assert own == [f"{name}-{number}" for number in range(50)]
    assert all(last[: len(texts)] == texts for texts in seen)
    lengths = [len(texts) for texts in seen]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > 5
    assert tree(Path(store.location(conversation_id)).parent) == ["conversation.json"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "stored", "drafts"),
    [
        ("before:open:1", ["Hello?"], 0),
        ("before:fsync:1", ["Hello?"], 1),
        ("after:fsync:1", ["Hello?"], 1),
        ("before:replace:1", ["Hello?"], 1),
        ("after:replace:1", ["Hello?", "the last words"], 0),
        ("before:fsync:2", ["Hello?", "the last words"], 0),
    ],
)
async def test_a_kill_at_any_step_of_a_write_leaves_the_old_file_or_the_new_one(
    store: FileStore, root: Path, step: str, stored: list[str], drafts: int
) -> None:
    conversation_id = await started(store)
    process = child("die", root, conversation_id, step)
    output, _ = await to_thread.run_sync(process.communicate)
    assert (process.returncode, output) == (-9, "")
    folder = Path(store.location(conversation_id)).parent
    left = await store.load(conversation_id)
    assert texts_of(left) == stored
    assert left.message_count == len(stored)
    assert len(tree(folder)) == 1 + drafts
    for name in tree(folder)[:drafts]:
        os.utime(folder / name, (0, 0))
    assert texts_of(await store.update(conversation_id, appended("life goes on"))) == [*stored, "life goes on"]
    assert tree(folder) == ["conversation.json"]


@pytest.mark.slow
async def test_the_turn_lock_of_another_process_is_respected_and_freed_by_its_death(
    store: FileStore, root: Path
) -> None:
    conversation_id = await started(store)
    with holder(root, conversation_id) as process:
        assert await store.turn_is_held(conversation_id)
        with pytest.raises(ConversationBusyError):
            await store.acquire_turn(conversation_id, 0, ignore)

        async def kill(waited_seconds: float) -> None:
            process.kill()

        lock = await store.acquire_turn(conversation_id, 20, kill)
    await lock.release()
    assert not await store.turn_is_held(conversation_id)


@pytest.mark.slow
async def test_a_process_that_waits_gets_the_lock_when_the_other_gives_it_back(store: FileStore, root: Path) -> None:
    conversation_id = await started(store)
    with holder(root, conversation_id) as process:

        async def let_go(waited_seconds: float) -> None:
            await to_thread.run_sync(write_line, process)

        lock = await store.acquire_turn(conversation_id, 20, let_go)
        assert process.stdout
        assert await to_thread.run_sync(process.stdout.readline) == "released\n"
    await lock.release()


@pytest.mark.slow
async def test_a_write_is_on_the_disk_when_the_call_returns(store: FileStore, root: Path) -> None:
    conversation_id = await started(store)
    await to_thread.run_sync(run_child, "append", root, conversation_id, "1", "x")
    assert b'"content": "x-0"' in content(Path(store.location(conversation_id)))
