"""The library waits for the index as long as that is worth it and keeps it in step."""

import threading
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.library import FIRST, Shelf, id_of, wanted_of
from tests.fixtures.stores import appended, conversation, started

from conversation_mcp.conversations.library import ConversationPage, Library
from conversation_mcp.errors import FilesystemError
from conversation_mcp.records.facts import describe
from conversation_mcp.records.found import Page, Place, Wanted
from conversation_mcp.stores.files.finder import FileFinder
from conversation_mcp.stores.files.index.sqlite import SqliteIndex
from conversation_mcp.stores.files.keeper import IndexKeeper
from conversation_mcp.stores.files.store import FileStore
from conversation_mcp.stores.files.vault import PlainVault
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.near import Neighbourhood


class HeldIndex(SqliteIndex):
    """An index whose comparisons are counted and wait until they are let go."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(shelf.root, shelf.indexes, describe, shelf.clock, PlainVault(shelf.root))
        self.gate = threading.Event()
        self.compared = 0
        self.taken_in = anyio.Event()
        self.is_lost_next = False

    def page(
        self, wanted: Wanted, limit: int, place: Place | None = None, around: "Neighbourhood | None" = None
    ) -> Page:
        if self.is_lost_next:
            (Path(self.location) / "index.db").unlink()
            self.is_lost_next = False
        return super().page(wanted, limit, place, around)

    def compare(self, headway: Headway) -> None:
        self.compared += 1
        while not self.gate.wait(0.001):
            if headway.is_stopped:
                return
        super().compare(headway)

    def take_in(self, ids: Collection[str]) -> None:
        super().take_in(ids)
        anyio.from_thread.run_sync(self.taken_in.set)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.fixture
def index(shelf: Shelf) -> HeldIndex:
    return HeldIndex(shelf)


@asynccontextmanager
async def opened(
    index: SqliteIndex, shelf: Shelf, patience_seconds: float = 20, **options: Any
) -> AsyncGenerator[tuple[Library, IndexKeeper]]:
    keeper = IndexKeeper(FileFinder(shelf.root, shelf.clock, index), shelf.clock, **options)
    store = FileStore(shelf.root, now=shelf.clock, keeper=keeper)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        yield Library(store, patience_seconds=patience_seconds), keeper
        tasks.cancel_scope.cancel()


async def ignore(_text: str) -> None:
    """Report to nobody."""


async def find(library: Library, query: str = "", limit: int = 20, cursor: str | None = None) -> ConversationPage:
    return await library.find(wanted_of(query), limit, cursor, ignore)


def numbers(page: ConversationPage) -> list[int]:
    return [int(listed.conversation_id[9:]) - FIRST for listed in page.conversations]


async def test_a_list_sees_what_changed_just_before_it(shelf: Shelf, index: HeldIndex) -> None:
    index.gate.set()
    async with opened(index, shelf) as (library, _):
        assert numbers(await find(library)) == []
        await to_thread.run_sync(shelf.put, 1, "apples?")
        assert numbers(await find(library)) == [1]
        await to_thread.run_sync(shelf.put, 2, "apples?")
        assert numbers(await find(library, "apples")) == [2, 1]


async def test_a_row_has_the_facts_of_its_file_and_no_others(shelf: Shelf, index: HeldIndex) -> None:
    index.gate.set()
    shelf.put(
        1, "apples?", "Apples.", pendingTurn={"question": "And pears?", "status": "failed", "usage": {"costUsd": 0.5}}
    )
    async with opened(index, shelf) as (library, _):
        page = await find(library, "apples")
    assert page.data() == {
        "conversations": [
            {
                "conversationId": id_of(1),
                "title": "apples?",
                "createdAt": "2026-01-31T00:00:01.000Z",
                "updatedAt": "2026-01-31T00:00:01.000Z",
                "messageCount": 2,
                "lastQuestion": "And pears?",
                "costUsd": 0.5,
                "state": "failed",
                "snippet": "**Apples**.",
                "messageNumber": 2,
            }
        ],
        "unreadableCount": 0,
    }


async def test_lists_that_are_asked_for_together_share_a_comparison(shelf: Shelf, index: HeldIndex) -> None:
    await to_thread.run_sync(shelf.put, 1, "apples?")
    pages: list[ConversationPage] = []
    async with opened(index, shelf) as (library, _), anyio.create_task_group() as tasks:

        async def ask() -> None:
            pages.append(await find(library))

        for _ in range(10):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        index.gate.set()
    assert [(numbers(page), page.notices) for page in pages] == [([1], None)] * 10
    assert index.compared <= 2


async def test_an_index_that_takes_too_long_is_not_waited_for_and_said_to_be_incomplete(
    shelf: Shelf, index: HeldIndex
) -> None:
    await to_thread.run_sync(shelf.put, 1, "apples?")
    async with opened(index, shelf, patience_seconds=0) as (library, keeper):
        page = await find(library)
        assert page.conversations == ()
        assert page.notices
        assert page.notices[0].startswith("not all files were checked yet (0 so far), so some may be missing")
        index.gate.set()
        await keeper.compare().done.wait()
        page = await Library(FileStore(shelf.root, now=shelf.clock, keeper=keeper)).find(wanted_of(), 20, None, ignore)
        assert (numbers(page), page.notices) == ([1], None)


async def test_a_long_wait_is_reported(shelf: Shelf, index: HeldIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversation_mcp.stores.files.keeper.TOLD_EVERY_SECONDS", 0.001)
    heard: list[str] = []

    async def report(text: str) -> None:
        await anyio.lowlevel.checkpoint()
        heard.append(text)
        index.gate.set()

    async with opened(index, shelf) as (library, _):
        await library.find(wanted_of(), 20, None, report)
    assert heard[0] == "checking the files of conversations: 0 so far"


async def test_a_large_library_is_compared_in_the_background_but_its_rows_are_true(
    shelf: Shelf, index: HeldIndex
) -> None:
    index.gate.set()
    for number in range(5):
        await to_thread.run_sync(shelf.put, number, "apples?")
    async with opened(index, shelf, compared_at_once=3) as (library, keeper):
        assert numbers(await find(library)) == [4, 3, 2, 1, 0]
        index.gate.clear()
        await to_thread.run_sync(shelf.put, 2, "pears?")
        await to_thread.run_sync(shelf.put, 9, "apples?")
        assert numbers(await find(library, "apples")) == [4, 3, 1, 0]
        assert index.compared == 1
        shelf.clock.move(6)
        assert numbers(await find(library)) == [4, 3, 2, 1, 0]
        index.gate.set()
        await keeper.compare().done.wait()
        assert numbers(await find(library, "apples")) == [9, 4, 3, 1, 0]
        assert numbers(await find(library, "pears")) == [2]


async def test_a_large_library_that_was_not_compared_for_long_is_compared_first(shelf: Shelf, index: HeldIndex) -> None:
    index.gate.set()
    await to_thread.run_sync(shelf.put, 1, "apples?")
    async with opened(index, shelf, compared_at_once=0) as (library, _):
        await find(library)
        await to_thread.run_sync(shelf.put, 2, "apples?")
        assert numbers(await find(library)) == [1]
        shelf.clock.move(11)
        assert numbers(await find(library)) == [2, 1]


async def test_what_this_process_wrote_is_found_at_once_in_a_large_library(shelf: Shelf, index: HeldIndex) -> None:
    index.gate.set()
    await to_thread.run_sync(shelf.put, 1, "apples?")
    async with opened(index, shelf, compared_at_once=0) as (library, keeper):
        await find(library)
        index.gate.clear()
        await to_thread.run_sync(shelf.put, 2, "pears?")
        keeper.note(conversation(id_of(2)).conversation_id)  # pyright: ignore[reportArgumentType] -- a plain id will do
        assert numbers(await find(library, "pears")) == [2]
        assert index.compared == 1


async def test_writes_are_taken_in_while_nobody_asks(
    shelf: Shelf, index: HeldIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.stores.files.keeper.SETTLE_SECONDS", 0)
    async with opened(index, shelf) as (_, keeper):
        store = FileStore(shelf.root, now=shelf.clock, keeper=keeper)
        written = await started(store, "apples?")
        await index.taken_in.wait()
        index.taken_in = anyio.Event()
        await store.update(written, appended("and pears"))
        await index.taken_in.wait()
        page = await to_thread.run_sync(index.page, wanted_of("pears"), 5)
    assert [found.conversation_id for found in page.found] == [written]


async def test_a_program_that_ends_does_not_wait_for_a_comparison(shelf: Shelf, index: HeldIndex) -> None:
    with anyio.fail_after(60):
        async with opened(index, shelf) as (_, keeper):
            keeper.compare()
            await anyio.wait_all_tasks_blocked()
    assert index.compared == 1


async def test_indexes_of_folders_that_are_gone_are_purged_after_the_start(
    shelf: Shelf, index: HeldIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.stores.files.keeper.PURGE_AFTER_SECONDS", 0)
    await to_thread.run_sync(shelf.numbers)
    assert shelf.database.exists()
    with anyio.fail_after(60):
        async with opened(index, shelf):
            while await to_thread.run_sync(shelf.database.exists):
                await anyio.lowlevel.checkpoint()


async def test_a_folder_that_cannot_be_read_is_an_error_and_the_next_list_tries_again(
    shelf: Shelf, index: HeldIndex
) -> None:
    index.gate.set()
    shelf.root.write_text("no folder")
    async with opened(index, shelf) as (library, _):
        with pytest.raises(FilesystemError):
            await find(library)
        shelf.root.unlink()
        assert numbers(await find(library)) == []


async def test_an_index_that_is_lost_between_two_steps_is_made_again(shelf: Shelf, index: HeldIndex) -> None:
    index.gate.set()
    await to_thread.run_sync(shelf.put, 1, "apples?")
    async with opened(index, shelf, compared_at_once=0) as (library, _):
        await find(library)
        index.is_lost_next = True
        assert numbers(await find(library)) == [1]
        assert not index.is_lost_next


async def test_skipped_files_are_named_in_a_notice(shelf: Shelf, index: HeldIndex) -> None:
    index.gate.set()
    for number in range(5):
        shelf.put(number, "apples?").write_bytes(b"")
    async with opened(index, shelf) as (library, _):
        page = await find(library)
    assert page.unreadable_count == 5
    assert page.notices
    assert page.notices[0].startswith(f"5 conversations that cannot be read were skipped: {shelf.path(0)} is empty; ")
    assert page.notices[0].endswith("; …")
