"""The index agrees with the folder, whatever happens to either."""

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.benchmarks.corpus import Corpus
from tests.fixtures.library import Shelf, id_of, numbers_of, wanted_of

from conversation_mcp.clock import utc_now
from conversation_mcp.records.found import WantedMemories
from conversation_mcp.stores.files.index.stamps import Files
from conversation_mcp.stores.headway import Headway


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


def test_an_empty_or_missing_folder_has_no_conversations(shelf: Shelf) -> None:
    assert shelf.numbers() == []
    shelf.root.mkdir()
    assert shelf.numbers() == []


def test_new_edited_and_deleted_files_are_seen_by_the_next_list(shelf: Shelf) -> None:
    shelf.put(1, "apples?")
    shelf.put(2, "pears?")
    assert shelf.numbers() == [2, 1]
    shelf.put(3, "quinces?")
    shelf.put(1, "plums?")
    shutil.rmtree(shelf.path(2).parent)
    assert shelf.numbers() == [3, 1]
    assert shelf.numbers("plums") == [1]
    assert shelf.numbers("apples") == []
    assert shelf.numbers("pears") == []


def test_an_edit_that_keeps_size_and_time_is_seen(shelf: Shelf) -> None:
    path = shelf.put(1, "apples?")
    before = path.stat()
    assert shelf.numbers("apples") == [1]
    path.write_text(path.read_text().replace("apples", "quince"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert shelf.numbers("quince") == [1]
    assert shelf.numbers("apples") == []


def test_a_restored_backup_is_seen(shelf: Shelf, tmp_path: Path) -> None:
    for number in range(5):
        shelf.put(number, "before the backup")
    shutil.copytree(shelf.root, tmp_path / "backup")
    for number in range(3, 8):
        shelf.put(number, "after the backup")
    assert shelf.numbers("after") == [7, 6, 5, 4, 3]
    shutil.rmtree(shelf.root)
    shutil.copytree(tmp_path / "backup", shelf.root)
    assert shelf.numbers() == [4, 3, 2, 1, 0]
    assert shelf.numbers("after") == []


def test_the_folder_may_go_and_come_back(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(1, "apples?")
    assert shelf.numbers() == [1]
    shelf.root.rename(tmp_path / "elsewhere")
    assert shelf.numbers() == []
    (tmp_path / "elsewhere").rename(shelf.root)
    assert shelf.numbers() == [1]


def test_a_row_that_changed_after_the_comparison_is_read_again_before_it_is_shown(shelf: Shelf) -> None:
    for number in range(4):
        shelf.put(number, "apples?")
    shelf.index.compare(Headway())
    shelf.put(1, "apples?", title="By hand", updatedAt="2027-01-01T00:00:00Z")
    shelf.put(2, "pears?")
    shutil.rmtree(shelf.path(3).parent)
    page = shelf.index.page(wanted_of("apples"), 10)
    assert numbers_of(page) == [1, 0]
    assert page.found[0].title == "By hand"
    assert numbers_of(shelf.index.page(wanted_of(), 2)) == [1, 2]


def test_files_that_did_not_change_are_not_read_again(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.put(1, "apples?")
    shelf.put(2, "pears?")
    shelf.index.compare(Headway())
    read: list[str] = []
    real = Files.read

    def counted(files: Files, conversation_id: str, stamp: int) -> object:
        read.append(conversation_id)
        return real(files, conversation_id, stamp)

    monkeypatch.setattr(Files, "read", counted)
    assert shelf.numbers() == [2, 1]
    assert read == []
    shelf.put(1, "plums?")
    assert shelf.numbers() == [2, 1]
    assert read == [id_of(1)]


def test_a_file_written_just_before_it_was_read_is_read_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, now=utc_now())
    shelf.put(1, "apples?")
    assert shelf.numbers("apples") == [1]
    with closing(sqlite3.connect(shelf.database)) as database:
        assert database.execute("SELECT stamp FROM conversations").fetchall() == [(0,)]
    shelf.clock.moment = utc_now() + timedelta(seconds=10)
    assert shelf.numbers("apples") == [1]
    with closing(sqlite3.connect(shelf.database)) as database:
        assert database.execute("SELECT stamp FROM conversations").fetchall() != [(0,)]


def test_unreadable_files_are_counted_and_come_back_when_mended(shelf: Shelf) -> None:
    shelf.put(1, "apples?")
    torn = shelf.put(2, "pears?")
    whole = torn.read_bytes()
    torn.write_bytes(whole[:-10])
    shelf.path(3).mkdir(parents=True)
    shelf.put(4, "plums?").rename(shelf.root / "moved.json")
    shelf.path(4).symlink_to(shelf.root / "moved.json")
    page = shelf.page()
    assert (numbers_of(page), page.unreadable_count) == ([1], 3)
    assert page.problems[0].startswith(f"{torn} is not valid JSON at line 1")
    assert shelf.page("pears").unreadable_count == 3
    torn.write_bytes(whole)
    shelf.path(3).rmdir()
    shelf.path(4).unlink()
    page = shelf.page()
    assert (numbers_of(page), page.unreadable_count) == ([2, 1], 0)


def test_a_good_file_that_breaks_is_no_longer_found_by_its_words(shelf: Shelf) -> None:
    shelf.put(1, "apples?").write_text("{")
    assert shelf.numbers("apples") == []
    assert shelf.page().unreadable_count == 1


@pytest.mark.parametrize("name", [".trash", "notes", "20260131-1769817600000.bak", "20260131-17698176000001"])
def test_names_that_are_no_ids_are_left_alone(shelf: Shelf, name: str) -> None:
    shelf.put(1, "apples?")
    shutil.copytree(shelf.path(1).parent, shelf.root / name)
    assert shelf.numbers() == [1]
    assert shelf.page().unreadable_count == 0


def test_a_folder_without_a_file_is_no_conversation_yet(shelf: Shelf) -> None:
    shelf.path(1).parent.mkdir(parents=True)
    assert shelf.page().unreadable_count == 0
    (shelf.path(1).parent / "conversation (1).json").write_text("{}")
    assert shelf.numbers() == []


def test_two_indexes_of_one_folder_share_their_file(shelf: Shelf) -> None:
    shelf.put(1, "apples?")
    shelf.index.compare(Headway())
    other = shelf.open()
    assert other.location == shelf.index.location
    assert numbers_of(other.page(wanted_of("apples"), 5)) == [1]


def test_a_memory_that_another_process_replaces_while_it_is_looked_up_is_left_out(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, text in enumerate(("apples", "more apples", "red apples")):
        shelf.put(number, "what?", memories=[{"memoryId": f"mem-{number}", "content": text}])
    shelf.index.compare(Headway())
    other, stamps = shelf.open(), Files.stamps

    def meanwhile(files: Files, ids: Iterable[str]) -> dict[str, int]:
        seen = stamps(files, ids)
        monkeypatch.setattr(Files, "stamps", stamps)
        shelf.put(1, "what?", memories=[])
        shelf.put(2, "what?", memories=[{"memoryId": "mem-9", "content": "pears"}])
        other.compare(Headway())
        return seen

    monkeypatch.setattr(Files, "stamps", meanwhile)
    assert [each.memory.memory_id for each in shelf.index.memories(WantedMemories("apples"), 5).found] == ["mem-0"]


def test_a_noted_conversation_is_taken_in_without_a_comparison(shelf: Shelf) -> None:
    shelf.put(1, "apples?")
    shelf.index.compare(Headway())
    shelf.put(2, "pears?")
    assert numbers_of(shelf.index.page(wanted_of(), 5)) == [1]
    shelf.index.take_in([id_of(2)])
    assert numbers_of(shelf.index.page(wanted_of(), 5)) == [2, 1]


def test_a_comparison_that_is_stopped_goes_on_where_it_was(shelf: Shelf) -> None:
    Corpus().write(shelf.root, 30)
    stopped = Headway(is_stopped=True)
    shelf.index.compare(stopped)
    assert shelf.index.standing().compared_at is None
    assert not shelf.index.page(wanted_of(), 100).is_complete
    shelf.index.compare(Headway())
    assert shelf.index.standing().conversation_count == 30
    assert len(shelf.index.page(wanted_of(), 100).found) == 30


@pytest.mark.slow
def test_the_index_of_a_generated_library_finds_what_is_in_its_files(shelf: Shelf) -> None:
    Corpus(seed=7).write(shelf.root, 200)
    page = shelf.page(limit=200)
    stored = [json.loads(path.read_bytes()) for path in shelf.root.glob("*/conversation.json")]
    assert {found.conversation_id: found.message_count for found in page.found} == {
        data["conversationId"]: data["messageCount"] for data in stored
    }
    for data in stored[:40]:
        phrase = data["messages"][-1]["content"].removesuffix(" [1].")
        best = shelf.index.page(wanted_of(f'"{phrase}"'), 5).found[0]
        assert (best.conversation_id, best.message_number) == (data["conversationId"], data["messageCount"])


def test_a_conversation_that_grows_keeps_the_rows_of_its_messages(shelf: Shelf) -> None:
    shelf.put(1, "apples?", "Apples.")
    shelf.index.compare(Headway())
    shelf.put(1, "apples?", "Apples.", "and then?", "Pears.")
    [found] = shelf.found("pears")
    assert found.message_number == 4
    shelf.put(1, "apples?")
    assert shelf.numbers("pears") == []
    with closing(sqlite3.connect(shelf.database)) as database:
        assert database.execute("SELECT count(*) FROM messages").fetchone() == (1,)


def test_a_clock_that_goes_back_hides_nothing(shelf: Shelf) -> None:
    shelf.put(1, "apples?")
    assert shelf.numbers() == [1]
    shelf.clock.moment = datetime(2001, 1, 1, tzinfo=UTC)
    shelf.put(1, "pears?")
    shelf.put(2, "plums?")
    assert shelf.numbers() == [2, 1]
    assert shelf.numbers("pears") == [1]
