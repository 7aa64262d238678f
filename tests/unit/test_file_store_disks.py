"""Disks that fail: the old file is whole, no draft stays, and the error names the path and the reason."""

import errno
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.stores import (
    Clock,
    appended,
    content,
    conversation,
    fill,
    ignore,
    public_folder,
    remount,
    run_child,
    small_disk,
    started,
    texts_of,
    tree,
)

from conversation_mcp.disk import files as disk
from conversation_mcp.errors import FilesystemError
from conversation_mcp.stores.files.store import FileStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="users and mounts of POSIX")


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "logs", now=Clock())


@pytest.fixture
def full_disk(tmp_path: Path) -> Generator[Path]:
    with small_disk(tmp_path / "disk", "256k") as folder:
        yield folder


@pytest.mark.slow
async def test_a_full_disk_leaves_the_old_file_whole_and_no_draft_and_space_helps(full_disk: Path) -> None:
    store = FileStore(full_disk / "logs", now=Clock())
    conversation_id = await started(store, "x" * 50_000)
    path = Path(store.location(conversation_id))
    whole = content(path)
    await to_thread.run_sync(fill, full_disk, 20_000)
    with pytest.raises(FilesystemError, match=f"^{path}: no space left on the device"):
        await store.update(conversation_id, appended("more"))
    assert content(path) == whole
    assert tree(path.parent) == ["conversation.json"]
    await to_thread.run_sync((full_disk / "ballast").unlink)
    assert (await store.update(conversation_id, appended("more"))).message_count == 2


@pytest.mark.slow
async def test_a_conversation_that_does_not_fit_leaves_nothing(full_disk: Path) -> None:
    store = FileStore(full_disk / "logs", now=Clock())
    conversation_id = await store.reserve()
    await to_thread.run_sync(fill, full_disk, 20_000)
    with pytest.raises(FilesystemError, match="no space left on the device"):
        await store.create(conversation(conversation_id, "x" * 50_000))
    assert tree(full_disk / "logs") == [".gitignore"]


@pytest.mark.slow
async def test_a_read_only_disk_can_be_read_but_not_written(full_disk: Path) -> None:
    store = FileStore(full_disk / "logs", now=Clock())
    conversation_id = await started(store)
    await (await store.acquire_turn(conversation_id, 0, ignore)).release()
    await to_thread.run_sync(remount, full_disk, "ro")
    assert texts_of(await store.load(conversation_id)) == ["Hello?"]
    assert await store.exists(conversation_id)
    assert not await store.turn_is_held(conversation_id)
    for call in (
        store.update(conversation_id, appended("more")),
        store.acquire_turn(conversation_id, 0, ignore),
        store.reserve(),
    ):
        with pytest.raises(FilesystemError, match="the file system is read-only"):
            await call
    await to_thread.run_sync(remount, full_disk, "rw")


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.EDQUOT, "the disk quota is used up."),
        (errno.EIO, "the device reports an input/output error."),
        (errno.ENOSPC, "no space left on the device."),
        (errno.EROFS, "the file system is read-only."),
        (errno.ETXTBSY, "Text file busy."),
    ],
)
@pytest.mark.parametrize("step", ["fsync", "replace"])
async def test_a_write_that_fails_at_any_step_changes_nothing(
    store: FileStore, monkeypatch: pytest.MonkeyPatch, step: str, number: int, told: str
) -> None:
    conversation_id = await started(store)
    path = Path(store.location(conversation_id))
    whole = content(path)

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as faulty:
        faulty.setattr(os, step, fail)
        with pytest.raises(FilesystemError) as caught:
            await store.update(conversation_id, appended("more"))
    assert caught.value.message == f"{path}: {told}"
    assert content(path) == whole
    assert tree(path.parent) == ["conversation.json"]


async def test_a_conversation_never_grows_beyond_what_can_be_read_again(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "MAX_FILE_BYTES", 2 << 20)
    conversation_id = await started(store)
    with pytest.raises(FilesystemError, match="would be larger than the limit of 2 MiB"):
        await store.update(conversation_id, appended("x" * (2 << 20)))
    assert texts_of(await store.load(conversation_id)) == ["Hello?"]


@pytest.mark.slow
@pytest.mark.parametrize("action", ["load", "exists", "update", "turn", "held"])
def test_another_user_is_told_that_permission_is_denied(action: str) -> None:
    with public_folder() as folder:
        conversation_id = run_child("start", folder / "logs", "1")
        told = run_child("attempt", folder / "logs", action, conversation_id)
    assert told.startswith(f"FILESYSTEM_ERROR: {folder / 'logs'}")
    assert ": permission denied. Nothing was changed. Check the folder, its permissions" in told


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_is_told() -> None:
    with public_folder() as folder:
        told = run_child("attempt", folder / "logs", "start", "")
        assert told.startswith(f"FILESYSTEM_ERROR: {folder / 'logs'}: permission denied.")
        assert tree(folder) == []


class SharingViolationError(PermissionError):
    winerror = 32


def test_windows_gets_time_to_let_go_of_a_file() -> None:
    pauses: list[float] = []
    answers = [SharingViolationError(), SharingViolationError(), None]

    def step() -> None:
        if answer := answers.pop(0):
            raise answer

    disk.patiently(step, pauses.append)
    assert pauses == [0.05, 0.1]


@pytest.mark.parametrize(("error", "tries"), [(SharingViolationError(), 7), (PermissionError(), 1)])
def test_a_lasting_refusal_is_an_error_in_the_end(error: PermissionError, tries: int) -> None:
    made: list[None] = []

    def step() -> None:
        made.append(None)
        raise error

    with pytest.raises(PermissionError):
        disk.patiently(step, lambda _: None)
    assert len(made) == tries
