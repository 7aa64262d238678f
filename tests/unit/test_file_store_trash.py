"""The faults that only a trash of files can have: planted names, crashes between steps, what is left behind."""

import os
from pathlib import Path

import pytest
from tests.fixtures.stores import Clock, appended, child, ignore, public_folder, run_child, started, texts_of, tree

from conversation_mcp.errors import ConversationNotFoundError, FilesystemError
from conversation_mcp.records.imported import Imported
from conversation_mcp.stores.files.store import FileStore

posix = pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")
CRASH_POINTS = ["before:rename:1", "after:rename:1", "after:fsync:1", "after:fsync:2"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "logs"


@pytest.fixture
def store(root: Path) -> FileStore:
    return FileStore(root, now=Clock())


async def test_nothing_of_a_removed_conversation_stays_in_the_folder(store: FileStore, root: Path) -> None:
    conversation_id = await started(store)
    await (await store.acquire_turn(conversation_id, 0, ignore)).release()
    await store.update(conversation_id, appended("more"))
    (root / conversation_id / ".conversation.0123456789abcdef.tmp").write_text("a torn write")
    (root / conversation_id / "notes").mkdir()
    await store.trash.remove(await store.trash.put(conversation_id))
    assert tree(root) == [".deleted", ".gitignore", ".locks", ".trash"]


async def test_a_mark_has_no_word_of_what_was_deleted(store: FileStore, root: Path) -> None:
    conversation_id = await started(store, "A secret question")
    origin = Imported.model_validate({"from": "chatgpt", "id": "conversation of mine"})
    await store.update(conversation_id, lambda stored, _: stored.changed(imported=origin))
    await store.trash.remove(await store.trash.put(conversation_id))
    left = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert len(await store.trash.marks()) == 1
    assert not any(word in left for word in (b"secret", b"of mine", conversation_id.encode()))


async def test_it_is_told_when_a_deletion_cannot_be_noted(store: FileStore, root: Path) -> None:
    first, second = await started(store), await started(store)
    (root / ".deleted").mkdir()
    trashed = await store.trash.put(first)
    assert await store.trash.remove(trashed) is False
    assert await store.trash.entries() == ()
    assert await store.trash.remove(trashed) is True
    (root / ".deleted").rmdir()
    assert await store.trash.remove(await store.trash.put(second)) is True


async def test_the_trash_is_private_and_ignored_by_git_like_the_rest(store: FileStore, root: Path) -> None:
    await store.trash.put(await started(store))
    assert (root / ".trash").stat().st_mode & 0o777 == 0o700
    assert (root / ".gitignore").read_text() == "*\n"


async def test_other_names_in_the_trash_are_left_alone(store: FileStore, root: Path) -> None:
    trashed = await store.trash.put(await started(store))
    for name in (
        "notes",
        "20260131-1769817600000",
        ".20260131-1769817600000.1769817600000",
        "20260131-1769817600000.1",
    ):
        (root / ".trash" / name).mkdir()
    (root / ".trash" / "20260131-1769817600000.1769817600009").write_text("a file")
    assert await store.trash.entries() == (trashed,)


async def test_a_half_removed_conversation_is_not_brought_back_but_can_be_removed(store: FileStore, root: Path) -> None:
    trashed = await store.trash.put(await started(store))
    Path(trashed.location).unlink()
    with pytest.raises(ConversationNotFoundError):
        await store.trash.restore(trashed)
    await store.trash.remove(trashed)
    assert await store.trash.entries() == ()


@posix
async def test_links_are_not_followed(store: FileStore, root: Path, tmp_path: Path) -> None:
    conversation_id = await started(store)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / ".trash").symlink_to(elsewhere)
    for call in (store.trash.put(conversation_id), store.trash.entries()):
        with pytest.raises(FilesystemError, match="is a symbolic link"):
            await call
    (root / ".trash").unlink()
    real = (root / conversation_id).rename(elsewhere / "real")
    (root / conversation_id).symlink_to(real)
    with pytest.raises(FilesystemError, match="is a symbolic link"):
        await store.trash.put(conversation_id)
    assert tree(elsewhere) == ["real", "real/conversation.json"]
    trashed = await store.trash.put(await started(store))
    Path(trashed.location).with_name("link").symlink_to(elsewhere)
    await store.trash.remove(trashed)
    assert tree(elsewhere) == ["real", "real/conversation.json"]


@pytest.mark.slow
@posix
@pytest.mark.parametrize("action", ["trash", "restore", "remove"])
async def test_a_folder_that_cannot_be_written_stays_as_it_is(action: str) -> None:
    with public_folder() as folder:
        store = FileStore(folder / "logs", now=Clock())
        conversation_id = await started(store)
        if action != "trash":
            await store.trash.put(conversation_id)
        before = tree(folder)
        told = run_child("attempt-read-only", folder / "logs", action, conversation_id)
        assert told.startswith(f"FILESYSTEM_ERROR: {folder / 'logs'}")
        assert "permission denied" in told
        assert tree(folder) == before


@pytest.mark.slow
@posix
@pytest.mark.parametrize("action", ["trash", "restore"])
@pytest.mark.parametrize("point", CRASH_POINTS)
async def test_a_process_that_is_killed_leaves_it_here_or_there_whole(
    store: FileStore, root: Path, action: str, point: str
) -> None:
    conversation_id = await started(store, "Hello?")
    if action == "restore":
        await store.trash.put(conversation_id)
    process = child("die-moving", root, action, conversation_id, point)
    output, _ = process.communicate(timeout=100)
    assert (process.returncode, output) == (-9, "")
    in_trash = await store.trash.entries()
    here = await store.exists(conversation_id)
    assert here == (not in_trash)
    assert here == ((action == "trash") == (point == "before:rename:1"))
    found = await store.load(conversation_id) if here else await store.trash.load(in_trash[0])
    assert texts_of(found) == ["Hello?"]
    if not here:
        await store.trash.restore(in_trash[0])
    await store.update(conversation_id, appended("more"))


@pytest.mark.slow
async def test_four_processes_that_delete_the_same_conversations_move_each_once(store: FileStore, root: Path) -> None:
    ids = [await started(store, str(number)) for number in range(10)]
    processes = [child("delete-all", root, *ids) for _ in range(4)]
    told = [line for process in processes for line in process.communicate(timeout=100)[0].split()]
    assert sorted(told) == sorted(ids)
    assert {trashed.conversation_id for trashed in await store.trash.entries()} == set(ids)
