"""A mirror folder follows a store: the file of each conversation with what its questions name, and nothing else."""

from collections.abc import Iterator
from pathlib import Path
from stat import S_IMODE
from typing import cast

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, serving
from tests.fixtures.stores import (
    Clock,
    appended,
    conversation,
    fill,
    ignore,
    public_folder,
    remount,
    small_disk,
    started,
)

from conversation_mcp.bootstrap import retention_of
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import mirrored, open_retention, open_store, require_mirrorable
from conversation_mcp.stores.mirror import MirroredStore

pytestmark = pytest.mark.parametrize("store_url", ["postgresql", "memory"], indirect=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mirror"


@pytest.fixture
def store(home: Home, folder: Path) -> Store:
    return opened(home, folder)


def opened(home: Home, folder: Path, owner: str = "local", clock: Clock | None = None) -> Store:
    """Open the store with its mirror, as another process would."""
    return mirrored(open_store(home.store_url, clock or Clock(), owner), home.store_url, folder, owner)


CONTENTS = {hash_of(data): data for data in (b"one", b"", b"\0two")}


def in_mirror(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def files(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.rglob("*.json"))


async def caught_up(store: Store) -> None:
    """Do what the store does in the background when it is opened."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.run)
        await anyio.lowlevel.checkpoint()
        with anyio.fail_after(30):
            while not cast("MirroredStore", store).is_caught_up:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def body(store: Store, conversation_id: ConversationId) -> bytes:
    return await to_thread.run_sync(store.finder.read, conversation_id)


async def test_each_change_beside_turns_is_in_the_mirror_at_once_and_private(store: Store, folder: Path) -> None:
    conversation_id = await started(store)
    await store.update(conversation_id, appended("more"))
    (path,) = files(folder)
    assert path == folder / conversation_id / "conversation.json"
    assert path.read_bytes() == await body(store, conversation_id)
    assert [S_IMODE(each.stat().st_mode) for each in (folder, path.parent, path)] == [0o700, 0o700, 0o600]


async def test_a_turn_is_in_the_mirror_at_its_end_before_anybody_else_has_the_lock(store: Store, folder: Path) -> None:
    conversation_id = await started(store)
    before = await body(store, conversation_id)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    await store.update(conversation_id, appended("question"))
    path = folder / conversation_id / "conversation.json"
    assert path.read_bytes() == before
    await lock.release()
    await lock.release()
    assert path.read_bytes() == await body(store, conversation_id) != before


async def test_what_is_deleted_leaves_the_mirror_and_what_is_restored_comes_back(store: Store, folder: Path) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    trashed = await store.trash.put(conversation_id)
    await lock.release()
    assert [*files(folder)] == []
    await store.trash.restore(trashed)
    assert [each.parent.name for each in files(folder)] == [conversation_id]


async def test_owners_have_folders_of_their_own_and_a_removed_owner_leaves_none(
    home: Home, store: Store, folder: Path
) -> None:
    alice = opened(home, folder, "alice")
    own, others = await started(store), await started(alice)
    (place,) = (folder / ".owners").iterdir()
    assert {each.parent.name for each in files(place)} == {place.name, others}
    await to_thread.run_sync(alice.finder.ids)
    assert [each.endswith(others) for each in await alice.traces() if str(folder) in each] == [True]
    await alice.remove_all()
    assert [each.parent.name for each in files(folder)] == [own]


async def test_a_mirror_is_brought_up_to_date_when_the_store_is_opened(home: Home, store: Store, folder: Path) -> None:
    changed, deleted, same = [await started(store) for _ in range(3)]
    elsewhere = open_store(home.store_url, Clock())
    elsewhere_clock = Clock()
    elsewhere_clock.move(60)
    await open_store(home.store_url, elsewhere_clock).update(changed, appended("more"))
    await elsewhere.trash.put(deleted)
    added = await started(elsewhere)
    untouched = (folder / same / "conversation.json").stat().st_ino
    await caught_up(opened(home, folder))
    assert {each.parent.name for each in files(folder)} == {changed, same, added}
    for path in files(folder):
        assert path.read_bytes() == await body(store, ConversationId(path.parent.name))
    assert (folder / same / "conversation.json").stat().st_ino == untouched


async def test_what_questions_name_is_beside_its_conversation_and_is_written_once(store: Store, folder: Path) -> None:
    conversation_id = await store.reserve()
    await store.attachments.put(conversation_id, CONTENTS)
    assert not folder.exists()
    await store.create(conversation(conversation_id, "Hello?"))
    place = folder / conversation_id / "files"
    assert in_mirror(place) == CONTENTS
    assert {S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {0o600}
    first = {path.name: path.stat().st_ino for path in place.iterdir()}
    await store.attachments.put(conversation_id, {hash_of(b"later"): b"later"})
    await store.update(conversation_id, appended("more"))
    assert in_mirror(place) == {**CONTENTS, hash_of(b"later"): b"later"}
    assert {name: (place / name).stat().st_ino for name in first} == first
    await store.attachments.remove(conversation_id, CONTENTS)
    assert in_mirror(place) == {hash_of(b"later"): b"later"}
    assert {path.name for path in place.parent.iterdir()} == {"conversation.json", "files"}


async def test_contents_leave_the_mirror_with_their_conversation_and_come_back_with_it(
    store: Store, folder: Path
) -> None:
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, CONTENTS)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    trashed = await store.trash.put(conversation_id)
    await lock.release()
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    await store.trash.restore(trashed)
    assert in_mirror(folder / conversation_id / "files") == CONTENTS


async def test_contents_of_a_turn_are_in_the_mirror_at_its_end(store: Store, folder: Path) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    await store.attachments.put(conversation_id, CONTENTS)
    assert in_mirror(folder / conversation_id / "files") == {}
    await lock.release()
    assert in_mirror(folder / conversation_id / "files") == CONTENTS


async def test_contents_that_another_process_put_or_an_editor_changed_are_caught_up(home: Home, folder: Path) -> None:
    unseen = open_store(home.store_url, Clock())
    conversation_id = await started(unseen)
    await unseen.attachments.put(conversation_id, CONTENTS)
    await caught_up(opened(home, folder))
    place = folder / conversation_id / "files"
    assert in_mirror(place) == CONTENTS
    path = place / next(iter(CONTENTS))
    path.write_bytes(b"edited here")
    clock = Clock()
    clock.move(60)
    await open_store(home.store_url, clock).update(conversation_id, appended("more"))
    await caught_up(opened(home, folder))
    assert in_mirror(place) == CONTENTS


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["full", "read-only"])
async def test_a_mirror_on_a_disk_that_takes_no_file_is_whole_once_it_does(
    home: Home, tmp_path: Path, trouble: str
) -> None:
    data, clock = b"x" * (1 << 20), Clock()
    with small_disk(tmp_path / "disk", "4m") as disk:
        store = opened(home, disk / "mirror", clock=clock)
        conversation_id = await started(store)
        fill(disk, 1 << 19) if trouble == "full" else remount(disk, "ro")
        clock.move(1)
        await store.attachments.put(conversation_id, {hash_of(data): data})
        await store.update(conversation_id, appended("more"))
        assert await store.attachments.get(conversation_id, [hash_of(data)]) == {hash_of(data): data}
        assert cast("MirroredStore", store).trouble()
        (disk / "ballast").unlink() if trouble == "full" else remount(disk, "rw")
        await caught_up(store)
        assert cast("MirroredStore", store).trouble() is None
        place = disk / "mirror" / conversation_id
        assert in_mirror(place / "files") == {hash_of(data): data}
        assert (place / "conversation.json").read_bytes() == await body(store, conversation_id)


async def test_a_mirror_that_cannot_be_written_stops_nothing_and_says_so_until_it_can(home: Home) -> None:
    with public_folder() as place:
        folder = place / "mirror"
        folder.write_text("in the way", encoding="utf-8")
        store = opened(home, folder)
        conversation_id = await started(store)
        trouble = cast("MirroredStore", store).trouble()
        assert trouble is not None
        assert trouble.startswith("the mirror folder is not up to date: ")
        folder.unlink()
        await store.update(conversation_id, appended("more"))
        assert cast("MirroredStore", store).trouble() is None
        assert len([*files(folder)]) == 1


@pytest.mark.parametrize("url", ["file:///logs", "redis://host/0"])
def test_files_and_what_is_to_be_forgotten_have_no_mirror(home: Home, url: str) -> None:
    del home
    with pytest.raises(InvalidInputError, match="mirror"):
        require_mirrorable(url)


async def test_a_turn_whose_mirror_cannot_be_written_has_its_answer_and_a_notice(home: Home, folder: Path) -> None:
    folder.write_text("in the way", encoding="utf-8")
    async with serving(home, FakeProvider(), mirror=folder) as client:
        started = data_of(await client.call_tool("search", {"query": "one?"}))
        assert any(notice.startswith("the mirror folder") for notice in started["notices"])
        folder.unlink()
        named = {"conversationId": started["conversationId"]}
        followed = data_of(await client.call_tool("search_followup", {"query": "two?", **named}))
    assert not any("mirror" in notice for notice in followed.get("notices", ()))
    assert (folder / started["conversationId"] / "conversation.json").read_bytes() == home.body(
        started["conversationId"]
    )


async def test_nothing_of_an_owner_who_is_deleted_or_does_not_keep_it_stays_in_the_mirror(
    home: Home, folder: Path
) -> None:
    clock = Clock()
    alices = open_store(home.store_url, clock, "alice", mirror=folder)
    await started(alices, "Old")
    assert len([*files(folder)]) == 2
    await to_thread.run_sync(open_retention(home.store_url).put, "alice", "1h")
    clock.move(2 * 3600)
    settings = Settings(store=home.store_url, mirror=folder)
    await retention_of(settings, clock).sweep()
    assert [path.name for path in files(folder)] == ["owner.json"]
    await alices.remove_all()
    assert [*files(folder)] == []
