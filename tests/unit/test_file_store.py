"""The folder of the file store: what lies in it, with which rights, and what people may do to it meanwhile."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.stores import (
    BAD_IDS,
    UNKNOWN,
    Clock,
    appended,
    content,
    conversation,
    ignore,
    put,
    started,
    texts_of,
    tree,
)

from conversation_mcp.disk import files as disk
from conversation_mcp.errors import ConversationNotFoundError, FilesystemError, InvalidInputError
from conversation_mcp.records.ids import id_at
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.folder import ConversationFolder
from conversation_mcp.stores.files.store import FileStore


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "logs"


@pytest.fixture
def store(root: Path, clock: Clock) -> FileStore:
    return FileStore(root, now=clock, is_durable=False)


@pytest.fixture(params=[0o022, 0o000, 0o277, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {name: stat.S_IMODE((folder / name).lstat().st_mode) for name in [".", *tree(folder)]}


async def test_a_conversation_is_one_file_in_a_folder_named_by_its_id(store: FileStore, root: Path) -> None:
    conversation_id = await started(store)
    assert tree(root) == [".gitignore", conversation_id, f"{conversation_id}/conversation.json"]
    assert store.location(conversation_id) == str(root / conversation_id / "conversation.json")


@pytest.mark.usefixtures("umask")
async def test_only_the_owner_can_look_whatever_the_umask(store: FileStore, root: Path) -> None:
    conversation_id = await started(store)
    await store.update(conversation_id, appended("more"))
    await (await store.acquire_turn(conversation_id, 0, ignore)).release()
    assert modes(root.parent) == {
        ".": 0o700,
        "logs": 0o700,
        "logs/.gitignore": 0o600,
        "logs/.locks": 0o700,
        f"logs/.locks/{conversation_id}.lock": 0o600,
        f"logs/.locks/{conversation_id}.write.lock": 0o600,
        f"logs/{conversation_id}": 0o700,
        f"logs/{conversation_id}/conversation.json": 0o600,
    }


async def test_git_ignores_the_folder_and_a_users_own_gitignore_is_left_alone(store: FileStore, root: Path) -> None:
    ignored = root / ".gitignore"
    await started(store)
    assert content(ignored) == b"*\n"
    await to_thread.run_sync(ignored.unlink)
    await started(store)
    assert content(ignored) == b"*\n"
    await to_thread.run_sync(ignored.write_bytes, b"mine\n")
    await started(store)
    assert content(ignored) == b"mine\n"


def test_a_relative_folder_stays_where_it_was_when_the_process_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = FileStore(Path("logs"), now=Clock())
    monkeypatch.chdir("/")
    assert store.location(UNKNOWN) == str(tmp_path / "logs" / UNKNOWN / "conversation.json")


@pytest.mark.parametrize("text", [*BAD_IDS, UNKNOWN])
async def test_a_bad_or_unknown_id_leaves_no_trace(store: FileStore, tmp_path: Path, text: str) -> None:
    given = ConversationId(text)
    before = tree(tmp_path)
    for call in (
        store.load(given),
        store.exists(given),
        store.update(given, appended("more")),
        store.acquire_turn(given, 0, ignore),
        store.turn_is_held(given),
    ):
        with suppress(InvalidInputError, ConversationNotFoundError):
            assert await call is False
    assert tree(tmp_path) == before


async def test_reading_leaves_no_trace(store: FileStore, root: Path) -> None:
    conversation_id = await started(store)
    before = tree(root)
    await store.load(conversation_id)
    await store.exists(conversation_id)
    assert not await store.turn_is_held(conversation_id)
    assert tree(root) == before


async def test_an_edit_by_hand_between_two_updates_is_kept(store: FileStore) -> None:
    conversation_id = await started(store, "Hello?")
    await store.update(conversation_id, appended("one"))
    edited = json.loads(content(Path(store.location(conversation_id))))
    edited["note"] = "by hand"
    edited["messages"][0]["content"] = "Good morning?"
    edited["messageCount"] = 99
    put(store, conversation_id, b"\xef\xbb\xbf" + json.dumps(edited).replace(", ", ",\r\n").encode())
    updated = await store.update(conversation_id, appended("two"))
    assert texts_of(updated) == ["Good morning?", "one", "two"]
    assert updated.data()["note"] == "by hand"
    assert json.loads(content(Path(store.location(conversation_id)))) == updated.data()


async def test_the_next_write_sweeps_what_crashed_writes_left_and_nothing_else(store: FileStore, clock: Clock) -> None:
    conversation_id = await started(store)
    folder = Path(store.location(conversation_id)).parent
    now = clock().timestamp()
    for name, age_seconds in [
        (".conversation.0a.tmp", 3700),
        (".conversation.0b.tmp", 0),
        ("notes.tmp", 9999),
        ("conversation (1).json", 9999),
    ]:
        file = folder / name
        await to_thread.run_sync(file.write_bytes, b"{")
        os.utime(file, (now - age_seconds, now - age_seconds))
    await store.update(conversation_id, appended("more"))
    assert tree(folder) == ["conversation (1).json", "conversation.json", "notes.tmp"]


async def test_a_folder_that_was_deleted_meanwhile_is_made_again_for_the_next_conversation(
    store: FileStore, root: Path
) -> None:
    first = await started(store)
    await to_thread.run_sync(remove, root)
    with pytest.raises(ConversationNotFoundError, match=f"no conversation {first} in {root}"):
        await store.update(first, appended("more"))
    assert not await store.exists(first)
    assert texts_of(await store.load(await started(store, "anew"))) == ["anew"]


async def test_a_reserved_folder_that_is_gone_is_an_error(store: FileStore, root: Path) -> None:
    conversation_id = await store.reserve()
    await to_thread.run_sync((root / conversation_id).rmdir)
    with pytest.raises(FilesystemError, match=f"{conversation_id}/conversation.json: the folder is gone"):
        await store.create(conversation(conversation_id))


def test_a_folder_that_goes_in_the_middle_of_an_update_is_not_made_again(root: Path, clock: Clock) -> None:
    folder = ConversationFolder(root, clock, is_durable=False)
    conversation_id = folder.reserve()
    folder.create(conversation(conversation_id))

    def change(stored: object, now: str) -> object:
        remove(root)
        return appended(now)(conversation(conversation_id), now)

    with pytest.raises(FilesystemError, match=f"{conversation_id}/conversation.json: the folder is gone"):
        folder.update(conversation_id, change)  # pyright: ignore[reportArgumentType] -- looser than a Change
    assert not root.exists()


def test_thousands_of_ids_in_a_row_take_one_try_each(root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[Path] = []
    real = disk.claim_folder

    def counted(path: Path) -> bool:
        tries.append(path)
        return real(path)

    monkeypatch.setattr(disk, "claim_folder", counted)
    folder = ConversationFolder(root, clock, is_durable=False)
    taken = [folder.reserve() for _ in range(2000)]
    clock.move(-1)
    taken += [folder.reserve() for _ in range(1000)]
    clock.move(1)
    taken += [folder.reserve() for _ in range(10)]
    assert len(set(taken)) == 3010
    assert len(tries) < 3010 + 2100
    assert taken[2000] == id_at(1769817599000)


def remove(folder: Path) -> None:
    for name in reversed(tree(folder)):
        path = folder / name
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
    folder.rmdir()
