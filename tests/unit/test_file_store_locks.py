"""The two locks of the file store, where their own files or the wait for them are the matter."""

import os
import threading
from pathlib import Path

import filelock
import pytest
from anyio import CancelScope, Event, create_task_group, to_thread, wait_all_tasks_blocked
from tests.fixtures.stores import UNKNOWN, Clock, appended, ignore, started, texts_of

from conversation_mcp.disk.locks import FileLock, LockFolder
from conversation_mcp.errors import FilesystemError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores import turn_locks
from conversation_mcp.stores.files import folder
from conversation_mcp.stores.files.store import FileStore
from conversation_mcp.stores.lines import Lines
from conversation_mcp.stores.turn_locks import TurnLocks

NAME = f"{UNKNOWN}.lock"


@pytest.fixture
def lock_folder(tmp_path: Path) -> LockFolder:
    return LockFolder(tmp_path / ".locks")


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "logs", now=Clock(), is_durable=False)


def nothing() -> None:
    pass


def test_a_lock_is_held_by_its_object_and_not_by_a_thread(lock_folder: LockFolder) -> None:
    lock = lock_folder.try_lock(NAME, nothing)
    assert lock
    assert lock_folder.try_lock(NAME, nothing) is None
    thread = threading.Thread(target=lock.release)
    thread.start()
    thread.join()
    lock.release()
    assert not lock_folder.is_locked(NAME)


def test_asking_makes_no_lock_file(lock_folder: LockFolder, tmp_path: Path) -> None:
    assert not lock_folder.is_locked(NAME)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_was_removed_meanwhile_locks_nothing_so_a_new_one_is_made(
    lock_folder: LockFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ".locks" / NAME
    real = filelock.lock_descriptor
    removals = [path]

    def lock_and_remove(descriptor: int, *, blocking: bool) -> bool:
        if removals:
            removals.pop().unlink()
        return real(descriptor, blocking=blocking)

    monkeypatch.setattr(filelock, "lock_descriptor", lock_and_remove)
    lock = lock_folder.try_lock(NAME, nothing)
    assert lock
    assert path.exists()
    assert lock_folder.is_locked(NAME)
    lock.release()


def test_a_process_that_only_asks_keeps_nobody_out(lock_folder: LockFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    real = filelock.lock_descriptor
    refusals = [False]

    def busy_for_an_instant(descriptor: int, *, blocking: bool) -> bool:
        return refusals.pop() if refusals else real(descriptor, blocking=blocking)

    monkeypatch.setattr(filelock, "lock_descriptor", busy_for_an_instant)
    lock = lock_folder.try_lock(NAME, nothing)
    assert lock
    lock.release()


@pytest.mark.skipif(os.name != "posix", reason="other systems have no shared locks")
def test_a_process_that_stops_while_it_asks_keeps_nobody_out(
    lock_folder: LockFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    held = lock_folder.try_lock(NAME, nothing)
    assert held
    held.release()
    real, tries = filelock.lock_descriptor, [False] * 5
    with (tmp_path / ".locks" / NAME).open() as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        assert not lock_folder.is_locked(NAME)

        def lock_or_let_go(descriptor: int, *, blocking: bool) -> bool:
            taken = real(descriptor, blocking=blocking)
            if tries:
                assert taken == tries.pop()
            else:
                fcntl.flock(asking, fcntl.LOCK_UN)
            return taken

        monkeypatch.setattr(filelock, "lock_descriptor", lock_or_let_go)
        lock = lock_folder.try_lock(NAME, nothing)
        assert lock
        assert lock_folder.is_locked(NAME)
        assert lock_folder.try_lock(NAME, nothing) is None
        lock.release()


async def test_a_writer_that_never_ends_is_told_and_keeps_no_other_conversation_waiting(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "WRITE_WAIT_SECONDS", 0)
    blocked, free = await started(store), await started(store)
    name = f"{blocked}.write.lock"
    lock = await to_thread.run_sync(LockFolder(tmp_path / "logs" / ".locks").try_lock, name, nothing)
    assert lock
    with pytest.raises(FilesystemError, match=f"{name}: another program has held this lock for 0 s") as caught:
        await store.update(blocked, appended("more"))
    assert caught.value.conversation_id == blocked
    await store.update(free, appended("more"))
    lock.release()
    assert texts_of(await store.update(blocked, appended("more"))) == ["Hello?", "more"]


async def test_a_turn_can_end_when_the_folder_is_gone(store: FileStore, tmp_path: Path) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    await to_thread.run_sync((tmp_path / "logs").rename, tmp_path / "gone")
    await lock.release()
    assert not await store.turn_is_held(conversation_id)
    assert not await to_thread.run_sync((tmp_path / "logs").exists)


async def test_a_long_wait_is_told_again_and_again_with_the_time_it_took(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_locks, "TELL_SECONDS", 0.01)
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    told: list[float] = []
    enough = Event()

    async def on_wait(waited_seconds: float) -> None:
        told.append(waited_seconds)
        if len(told) == 4:
            enough.set()

    async def wait() -> None:
        await (await store.acquire_turn(conversation_id, 20, on_wait)).release()

    async with create_task_group() as group:
        group.start_soon(wait)
        await enough.wait()
        await lock.release()
    assert told[0] < 0.01
    assert told[:4] == sorted(told[:4])
    assert told[3] >= 0.03


async def test_a_waiter_that_is_cancelled_while_it_gets_the_lock_gives_it_back(lock_folder: LockFolder) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def slow(conversation_id: ConversationId) -> FileLock | None:
        lock = lock_folder.try_lock(f"{conversation_id}.lock", nothing)
        reached.set()
        assert go_on.wait(10)
        return lock

    turns = TurnLocks(slow)
    async with create_task_group() as group:
        group.start_soon(turns.acquire, UNKNOWN, 10, ignore)
        await to_thread.run_sync(reached.wait)
        group.cancel_scope.cancel()
        go_on.set()
    assert not await to_thread.run_sync(lock_folder.is_locked, NAME)
    await (await turns.acquire(UNKNOWN, 0, ignore)).release()


async def test_a_line_is_first_come_first_served_and_forgotten_when_it_is_empty() -> None:
    lines = Lines()
    served: list[int] = []
    scopes = [CancelScope() for _ in range(5)]

    async def visit(number: int) -> None:
        with scopes[number]:
            async with lines.turn("one"):
                served.append(number)

    front = lines.join("one")
    async with create_task_group() as group:
        for number in range(5):
            group.start_soon(visit, number)
            await wait_all_tasks_blocked()
        scopes[2].cancel()
        await wait_all_tasks_blocked()
        assert (served, len(lines)) == ([], 1)
        front.leave()
        front.leave()
    assert (served, len(lines)) == ([0, 1, 3, 4], 0)
