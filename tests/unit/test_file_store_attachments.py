"""The faults that only contents in files can have: damage, planted names, full disks, crashes between steps."""

import errno
import os
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.stores import (
    Clock,
    appended,
    child,
    conversation,
    fill,
    public_folder,
    run_child,
    small_disk,
    started,
    tree,
)

from conversation_mcp.disk import files as disk
from conversation_mcp.errors import FilesystemError
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.contents import ContentFiles
from conversation_mcp.stores.files.memory import FileMemory
from conversation_mcp.stores.files.store import FileStore
from conversation_mcp.stores.files.vault import PlainVault

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, users and mounts of POSIX")

FIRST, SECOND = b"first" * 1000, b"second" * 1000
CONTENTS = {hash_of(data): data for data in (FIRST, SECOND)}
CRASH_POINTS = [f"{when}:{step}" for when in ("before", "after") for step in ("fsync:1", "fsync:2", "mkdir:1")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "logs"


@pytest.fixture
def store(root: Path) -> FileStore:
    return FileStore(root, now=Clock(), is_durable=False)


async def kept(store: FileStore) -> tuple[ConversationId, Path]:
    """Return a conversation with contents and the file of the first."""
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, CONTENTS)
    return conversation_id, Path(store.location(conversation_id)).parent / "files" / hash_of(FIRST)


async def test_contents_are_files_of_their_owner_named_by_their_hashes(store: FileStore) -> None:
    _, path = await kept(store)
    assert tree(path.parent) == sorted(CONTENTS)
    assert path.read_bytes() == FIRST
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_what_is_there_stays_as_it_is(store: FileStore, root: Path) -> None:
    conversation_id, path = await kept(store)
    before = path.stat()
    for each in (store, FileStore(root, now=Clock())):
        await each.attachments.put(conversation_id, CONTENTS)
    assert path.stat() == before


@pytest.mark.parametrize("damage", [FIRST[:-1], FIRST[:-1] + b"x", b""])
async def test_a_content_that_has_changed_is_missing_until_it_is_put_again(
    store: FileStore, root: Path, damage: bytes
) -> None:
    conversation_id, path = await kept(store)
    for each in (store, FileStore(root, now=Clock())):
        assert await each.attachments.get(conversation_id, [*CONTENTS]) == CONTENTS
        path.write_bytes(damage)
        assert await each.attachments.get(conversation_id, [*CONTENTS]) == {hash_of(SECOND): SECOND}
        assert (await each.attachments.sizes(conversation_id))[hash_of(FIRST)] == len(damage)
        await each.attachments.put(conversation_id, CONTENTS)
        assert path.read_bytes() == FIRST


async def test_a_content_that_is_gone_is_missing_although_it_was_read_before(store: FileStore) -> None:
    conversation_id, path = await kept(store)
    await store.attachments.get(conversation_id, [*CONTENTS])
    path.unlink()
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == {hash_of(SECOND): SECOND}


def link(path: Path) -> None:
    outside = path.parents[3] / "outside"
    outside.write_bytes(FIRST)
    path.symlink_to(outside)


@pytest.mark.parametrize("make", [link, os.mkfifo, Path.mkdir])
async def test_something_else_in_the_place_of_a_content_is_not_read_and_not_replaced(
    store: FileStore, make: Callable[[Path], object]
) -> None:
    conversation_id, path = await kept(store)
    path.unlink()
    await to_thread.run_sync(make, path)
    before = path.lstat()
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == {hash_of(SECOND): SECOND}
    assert [*await store.attachments.sizes(conversation_id)] == [hash_of(SECOND)]
    with pytest.raises(FilesystemError):
        await store.attachments.put(conversation_id, CONTENTS)
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.parametrize("level", [0, 1])
async def test_a_folder_that_became_a_link_is_refused(store: FileStore, tmp_path: Path, level: int) -> None:
    conversation_id, path = await kept(store)
    folder = path.parents[level]
    folder.rename(tmp_path / "outside")
    folder.symlink_to(tmp_path / "outside")
    before = tree(tmp_path / "outside")
    for call in (
        store.attachments.get(conversation_id, [*CONTENTS]),
        store.attachments.sizes(conversation_id),
        store.attachments.put(conversation_id, {hash_of(b"new"): b"new"}),
    ):
        with pytest.raises(FilesystemError, match=f"{folder}: is a symbolic link"):
            await call
    assert tree(tmp_path / "outside") == before


async def test_a_file_in_the_place_of_the_folder_is_told(store: FileStore) -> None:
    conversation_id = await started(store)
    Path(store.location(conversation_id)).with_name("files").write_text("mine")
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == {}
    with pytest.raises(FilesystemError, match="a part of the path is not a folder"):
        await store.attachments.put(conversation_id, CONTENTS)


async def test_a_content_never_is_larger_than_what_can_be_read_again(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation_id = await started(store)
    monkeypatch.setattr(disk, "MAX_FILE_BYTES", 1 << 20)
    large = bytes((1 << 20) + 1)
    with pytest.raises(FilesystemError, match="is larger than the limit of 1 MiB"):
        await store.attachments.put(conversation_id, {hash_of(large): large})
    assert await store.attachments.sizes(conversation_id) == {}


async def test_memory_holds_no_more_than_its_limit_and_the_latest(root: Path, store: FileStore) -> None:
    bodies = [bytes([number]) * 1000 for number in range(5)]
    contents = {hash_of(data): data for data in bodies}
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, contents)
    reader = ContentFiles(root, PlainVault(root), recent=FileMemory(content_bytes=2500).contents)
    one, two, three = (hash_of(data) for data in bodies[:3])

    def read(name: str) -> bytes:
        return reader.get(conversation_id, [name])[name]

    def check() -> None:
        first, second = read(one), read(two)
        assert read(one) is first
        read(three)
        assert read(one) is first
        assert read(two) is not second
        reader.forget(conversation_id)
        assert read(one) is not first

    await to_thread.run_sync(check)


@pytest.mark.slow
async def test_a_full_disk_leaves_no_draft_and_what_was_there_and_space_helps(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "256k") as folder:
        store = FileStore(folder / "logs", now=Clock())
        conversation_id = await started(store)
        path = Path(store.location(conversation_id))
        large = bytes(50_000)
        await to_thread.run_sync(fill, folder, 20_000)
        with pytest.raises(FilesystemError, match="no space left on the device"):
            await store.attachments.put(conversation_id, {hash_of(large): large})
        assert tree(path.parent) == ["conversation.json"]
        await store.attachments.put(conversation_id, {hash_of(b"small"): b"small"})
        with pytest.raises(FilesystemError, match="no space left on the device"):
            await store.attachments.put(conversation_id, {hash_of(large): large})
        assert await store.attachments.sizes(conversation_id) == {hash_of(b"small"): 5}
        await to_thread.run_sync((folder / "ballast").unlink)
        await store.attachments.put(conversation_id, {hash_of(large): large})
        assert tree(path.parent / "files") == sorted([hash_of(b"small"), hash_of(large)])


@pytest.mark.slow
@pytest.mark.parametrize("point", CRASH_POINTS)
async def test_a_process_that_is_killed_leaves_whole_contents_and_a_draft_that_goes(
    store: FileStore, root: Path, point: str
) -> None:
    conversation_id = await started(store)
    process = child("die-putting", root, conversation_id, point)
    output, _ = process.communicate(timeout=100)
    assert (process.returncode, output) == (-9, "")
    sizes = await store.attachments.sizes(conversation_id)
    assert await store.attachments.get(conversation_id, [*sizes]) == {
        name: data for name, data in CONTENTS.items() if name in sizes
    }
    await store.sweep()
    assert not [name for name in tree(root) if name.endswith(".tmp")]
    await store.update(conversation_id, appended("more"))
    await store.attachments.put(conversation_id, CONTENTS)
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == CONTENTS


@pytest.mark.slow
async def test_two_processes_that_put_the_same_at_once_both_succeed(store: FileStore, root: Path) -> None:
    conversation_id = await started(store)
    processes = [child("put-contents", root, conversation_id, "200") for _ in range(2)]
    assert [process.communicate(timeout=100)[0] for process in processes] == ["done\n", "done\n"]
    assert len(await store.attachments.sizes(conversation_id)) == 200
    assert len(tree(root / conversation_id / "files")) == 200


@pytest.mark.slow
def test_another_user_is_told_that_permission_is_denied() -> None:
    with public_folder() as folder:
        conversation_id = run_child("start", folder / "logs", "1")
        for action in ("get-contents", "sizes"):
            told = run_child("attempt", folder / "logs", action, conversation_id)
            assert told.startswith(f"FILESYSTEM_ERROR: {folder / 'logs'}")
            assert ": permission denied." in told


async def test_a_conversation_that_cannot_be_written_takes_its_contents_along(
    store: FileStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation_id = await store.reserve()
    await store.attachments.put(conversation_id, CONTENTS)

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as faulty:
        faulty.setattr(os, "replace", fail)
        with pytest.raises(FilesystemError):
            await store.create(conversation(conversation_id, "Hello?"))
    assert tree(root) == [".gitignore"]


async def test_nothing_but_the_contents_stays_beside_a_conversation_that_was_written(store: FileStore) -> None:
    conversation_id = await store.reserve()
    await store.attachments.put(conversation_id, CONTENTS)
    await store.create(conversation(conversation_id, "Hello?"))
    folder = Path(store.location(conversation_id)).parent
    assert sorted(path.name for path in folder.iterdir()) == ["conversation.json", "files"]


@pytest.mark.slow
@pytest.mark.parametrize("point", CRASH_POINTS)
async def test_contents_of_a_conversation_that_was_never_written_are_swept(root: Path, point: str) -> None:
    clock = Clock()
    store = FileStore(root, now=clock, is_durable=False)
    conversation_id = await store.reserve()
    process = child("die-putting", root, conversation_id, point)
    process.communicate(timeout=100)
    clock.moment += timedelta(days=20_000)
    await store.sweep()
    assert tree(root) == [".gitignore"]


async def test_contents_of_a_conversation_whose_file_was_moved_away_by_hand_are_not_swept(
    store: FileStore, root: Path
) -> None:
    conversation_id, path = await kept(store)
    aside = path.parents[1] / "conversation.json"
    aside.rename(root.parent / "aside.json")
    os.utime(path.parents[1], (0, 0))
    await store.sweep()
    assert tree(path.parent) == sorted(CONTENTS)
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == CONTENTS
