"""Planted names: nothing is followed, nothing blocks, nothing outside of the store changes."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.stores import (
    Clock,
    appended,
    content,
    conversation,
    ignore,
    started,
    texts_of,
    tree,
)

from conversation_mcp.disk import files as disk
from conversation_mcp.errors import FilesystemError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.store import FileStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and mounts of POSIX")
SECRET = b"not yours"


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "logs", now=Clock(), is_durable=False)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A file outside of the store that must never change."""
    path = tmp_path / "target"
    path.write_bytes(SECRET)
    return path


def reason(error: FilesystemError) -> str:
    return error.message.rpartition(": ")[2]


async def everything_fails_with(told: str, store: FileStore, conversation_id: ConversationId) -> None:
    for call in (store.load(conversation_id), store.update(conversation_id, appended("more"))):
        with pytest.raises(FilesystemError) as caught:
            await call
        assert reason(caught.value) == told
        assert caught.value.conversation_id == conversation_id


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))


def link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (Path.mkdir, "is a directory, not a file."),
        (os.mkfifo, "is not a regular file."),
        (link_to_zeros, "is a symbolic link, which is not followed."),
        (link_to_itself, "is a symbolic link, which is not followed."),
    ],
)
async def test_something_else_in_place_of_the_file_is_refused_and_left(
    store: FileStore, make: Callable[[Path], object], told: str
) -> None:
    conversation_id = await started(store)
    path = Path(store.location(conversation_id))
    await to_thread.run_sync(path.unlink)
    await to_thread.run_sync(make, path)
    before = await to_thread.run_sync(path.lstat)
    await everything_fails_with(told, store, conversation_id)
    after = await to_thread.run_sync(path.lstat)
    assert (after.st_mode, after.st_ino, after.st_mtime_ns) == (before.st_mode, before.st_ino, before.st_mtime_ns)
    assert tree(path.parent) == ["conversation.json"]


async def test_a_socket_in_place_of_the_file_is_refused(monkeypatch: pytest.MonkeyPatch, store: FileStore) -> None:
    conversation_id = await started(store)
    path = Path(store.location(conversation_id))
    await to_thread.run_sync(path.unlink)
    monkeypatch.chdir(path.parent)
    make_socket(Path(path.name))
    await everything_fails_with("is not a regular file.", store, conversation_id)


async def test_a_file_that_is_a_link_is_refused_and_its_target_is_unchanged(store: FileStore, target: Path) -> None:
    conversation_id = await started(store)
    path = Path(store.location(conversation_id))
    whole = content(path)
    await to_thread.run_sync(target.write_bytes, whole)
    await to_thread.run_sync(path.unlink)
    await to_thread.run_sync(path.symlink_to, target)
    await everything_fails_with("is a symbolic link, which is not followed.", store, conversation_id)
    assert content(target) == whole


async def test_a_conversation_folder_that_is_a_link_is_refused_and_named(store: FileStore, tmp_path: Path) -> None:
    conversation_id = await started(store)
    folder = Path(store.location(conversation_id)).parent
    outside = tmp_path / "outside"
    await to_thread.run_sync(folder.rename, outside)
    await to_thread.run_sync(folder.symlink_to, outside)
    whole = content(outside / "conversation.json")
    await everything_fails_with("is a symbolic link, which is not followed.", store, conversation_id)
    with pytest.raises(FilesystemError, match=f"^{folder}: "):
        await store.load(conversation_id)
    assert content(outside / "conversation.json") == whole
    assert tree(outside) == ["conversation.json"]


async def test_a_reserved_folder_that_became_a_link_is_refused(store: FileStore, tmp_path: Path) -> None:
    conversation_id = await store.reserve()
    folder = Path(store.location(conversation_id)).parent
    await to_thread.run_sync(folder.rename, tmp_path / "outside")
    await to_thread.run_sync(folder.symlink_to, tmp_path / "outside")
    with pytest.raises(FilesystemError, match="is a symbolic link"):
        await store.create(conversation(conversation_id))
    assert tree(tmp_path / "outside") == []


@pytest.mark.parametrize("suffix", [".lock", ".write.lock"])
async def test_a_lock_file_that_is_a_link_is_not_followed(store: FileStore, target: Path, suffix: str) -> None:
    conversation_id = await started(store)
    locks = Path(store.location(conversation_id)).parents[1] / ".locks"
    await to_thread.run_sync(locks.mkdir)
    await to_thread.run_sync((locks / (conversation_id + suffix)).symlink_to, target)
    is_turn = suffix == ".lock"
    with pytest.raises(FilesystemError, match="is a symbolic link, which is not followed"):
        await (
            store.acquire_turn(conversation_id, 0, ignore)
            if is_turn
            else store.update(conversation_id, appended("more"))
        )
    assert content(target) == SECRET
    assert texts_of(await store.load(conversation_id)) == ["Hello?"]


async def test_a_folder_of_locks_that_is_a_link_is_not_followed(store: FileStore, tmp_path: Path) -> None:
    conversation_id = await started(store)
    outside = tmp_path / "outside"
    await to_thread.run_sync(outside.mkdir)
    await to_thread.run_sync((tmp_path / "logs" / ".locks").symlink_to, outside)
    with pytest.raises(FilesystemError, match=r"\.locks: is a symbolic link"):
        await store.update(conversation_id, appended("more"))
    assert tree(outside) == []


def test_a_planted_draft_is_not_followed(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def known(size: int) -> str:
        return "known"

    monkeypatch.setattr(disk, "token_hex", known)
    planted = tmp_path / ".conversation.known.tmp"
    planted.symlink_to(target)
    with pytest.raises(FileExistsError):
        disk.replace_file(tmp_path / "conversation.json", b"{}")
    assert target.read_bytes() == SECRET


async def test_a_file_in_place_of_the_root_is_told(tmp_path: Path, target: Path) -> None:
    store = FileStore(target, now=Clock())
    with pytest.raises(FilesystemError, match=f"^{target}: a part of the path is not a folder"):
        await store.reserve()
    assert content(target) == SECRET
