"""The file of the index: private, replaced when it is damaged, removed when its folder is gone, never in the way."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from tests.benchmarks.corpus import Corpus
from tests.fixtures.library import Shelf, id_of, wanted_of
from tests.fixtures.stores import UNKNOWN

from conversation_mcp.clock import utc_now
from conversation_mcp.disk.files import MAX_FILE_BYTES
from conversation_mcp.errors import FilesystemError
from conversation_mcp.records.facts import describe
from conversation_mcp.records.found import Indexed
from conversation_mcp.records.models import ConversationId
from conversation_mcp.searching.database import IndexFile, lock_folder
from conversation_mcp.stores.files.finder import FileFinder
from conversation_mcp.stores.files.index.sqlite import SqliteIndex
from conversation_mcp.stores.files.vault import PlainVault
from conversation_mcp.stores.headway import Headway
from conversation_mcp.stores.index.schema import SCHEMA


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    for number in range(5):
        shelf.put(number, f"apples {number}?", "Green.")
    return shelf


def inode(path: Path) -> int:
    return path.stat().st_ino


def test_nothing_is_made_before_something_is_asked(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    assert shelf.index.location.startswith(str(shelf.indexes))
    shelf.index.purge_orphans()
    shelf.index.erase([UNKNOWN])
    assert list(tmp_path.iterdir()) == []


def test_all_of_it_is_for_its_owner_alone_whatever_the_umask(shelf: Shelf) -> None:
    before = os.umask(0)
    try:
        shelf.index.compare(Headway())
        with IndexFile([shelf.root], shelf.indexes, SCHEMA).open() as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM facets")
            names = {path.name for path in Path(shelf.index.location).iterdir()}
            modes = {stat.S_IMODE(path.lstat().st_mode) for path in shelf.indexes.rglob("*") if path.is_file()}
            database.rollback()
    finally:
        os.umask(before)
    assert names == {"folder", "index.db", "index.db-wal", "index.db-shm"}
    assert modes == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (shelf.indexes, *shelf.indexes.iterdir())} == {0o700}


def test_a_file_that_others_may_read_is_made_private_again(shelf: Shelf) -> None:
    shelf.index.compare(Headway())
    shelf.database.chmod(0o644)
    shelf.numbers()
    assert stat.S_IMODE(shelf.database.stat().st_mode) == 0o600


def test_it_knows_its_folder_and_has_a_name_of_its_own(shelf: Shelf, tmp_path: Path) -> None:
    shelf.index.compare(Headway())
    assert (Path(shelf.index.location) / "folder").read_text() == str(shelf.root.resolve())
    (tmp_path / "link").symlink_to(shelf.root)
    assert IndexFile([tmp_path / "link"], shelf.indexes, SCHEMA).home == Path(shelf.index.location)
    assert IndexFile([tmp_path / "other"], shelf.indexes, SCHEMA).home != Path(shelf.index.location)


def test_the_program_keeps_it_in_the_cache_folder_of_the_user(tmp_path: Path) -> None:
    cache = Path(os.environ["XDG_CACHE_HOME"])
    assert Path(FileFinder(tmp_path, utc_now).index.location).parent == cache / "conversation-mcp" / "index"


@pytest.mark.parametrize(
    "damage",
    [b"", b"no database at all, but some text", b"SQLite format 3\0" + bytes(4000), bytes(8192)],
    ids=["empty", "text", "header", "zeros"],
)
def test_a_file_that_is_no_index_is_replaced(shelf: Shelf, damage: bytes) -> None:
    assert shelf.numbers("apples 3")[0] == 3
    shelf.database.write_bytes(damage)
    page = shelf.page("apples 3")
    assert len(page.found) == 5
    assert page.notices == ()
    assert shelf.numbers() == [4, 3, 2, 1, 0]


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
def test_a_file_that_is_torn_or_overwritten_in_its_middle_loses_no_conversation(shelf: Shelf, place: float) -> None:
    Corpus().write(shelf.root, 60)
    assert len(shelf.page(limit=100).found) == 65
    whole = shelf.database.read_bytes()
    start = int(len(whole) * place)
    shelf.database.write_bytes(whole[:start] + b"\xa5" * 3000 + whole[start + 3000 :])
    assert len(shelf.page(limit=100).found) == 65
    shelf.database.write_bytes(shelf.database.read_bytes()[:start])
    assert len(shelf.page(limit=100).found) == 65


@pytest.mark.parametrize("table", ["conversations", "facets", "messages", "messages_data", "comparisons"])
def test_an_index_that_lacks_a_table_is_replaced(shelf: Shelf, table: str) -> None:
    shelf.index.compare(Headway())
    with closing(sqlite3.connect(shelf.database)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("DELETE FROM sqlite_schema WHERE name = ?", (table,))
        database.commit()
    assert len(shelf.numbers("apples")) == 5


def test_an_index_of_another_version_is_replaced(shelf: Shelf) -> None:
    shelf.index.compare(Headway())
    before = inode(shelf.database)
    with closing(sqlite3.connect(shelf.database)) as database:
        database.execute("PRAGMA user_version = 999")
    assert len(shelf.numbers("apples")) == 5
    assert inode(shelf.database) != before


def test_a_deleted_index_is_made_again(shelf: Shelf) -> None:
    shelf.index.compare(Headway())
    shelf.database.unlink()
    assert not shelf.index.page(wanted_of("apples"), 9).is_complete
    assert len(shelf.numbers("apples")) == 5
    shutil.rmtree(shelf.indexes.parent)
    assert len(shelf.numbers("apples")) == 5


def test_what_a_crash_left_beside_it_goes_with_the_next_file(shelf: Shelf) -> None:
    shelf.index.compare(Headway())
    home = Path(shelf.index.location)
    shelf.database.unlink()
    for name in ("index.db-wal", "index.db-shm", "index.db.0123456789abcdef", "index.db.fedcba9876543210"):
        (home / name).write_bytes(b"left behind")
    os.utime(home / "index.db.0123456789abcdef", (0, 0))
    assert len(shelf.numbers("apples")) == 5
    assert {path.name for path in home.iterdir()} == {"folder", "index.db", "index.db.fedcba9876543210"}


def test_a_rebuild_makes_a_new_file_and_leaves_the_old_one_until_it_is_done(shelf: Shelf) -> None:
    shelf.index.compare(Headway())
    before, watch = inode(shelf.database), Headway()
    shelf.index.rebuild(Headway(is_stopped=True))
    assert inode(shelf.database) == before
    shelf.index.rebuild(watch)
    assert inode(shelf.database) != before
    assert (watch.seen, watch.total) == (5, 5)
    assert {path.name for path in Path(shelf.index.location).iterdir()} == {"folder", "index.db"}
    assert len(shelf.numbers("apples")) == 5


def test_a_planted_link_is_not_written_through(shelf: Shelf, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    shelf.index.compare(Headway())
    shelf.database.unlink()
    shelf.database.symlink_to(victim)
    page = shelf.page("apples")
    assert len(page.found) == 5
    assert "is a symbolic link" in page.notices[0]
    assert victim.read_text() == "precious"


def test_an_index_whose_folder_is_gone_is_purged_and_no_other(shelf: Shelf, tmp_path: Path) -> None:
    gone = Shelf(tmp_path / "gone")
    gone.indexes = shelf.indexes
    gone.index = gone.open()
    gone.put(1, "secret pears?")
    shelf.index.compare(Headway())
    gone.index.compare(Headway())
    shelf.index.purge_orphans()
    assert gone.database.exists()
    shutil.rmtree(gone.root)
    shelf.index.purge_orphans()
    assert not Path(gone.index.location).exists()
    assert [path.name for path in (shelf.indexes / ".locks").iterdir()] == [f"{Path(shelf.index.location).name}.lock"]
    assert shelf.database.exists()


def test_an_index_that_is_being_made_is_not_purged(shelf: Shelf) -> None:
    shelf.index.compare(Headway())
    shutil.rmtree(shelf.root)
    with lock_folder(shelf.indexes).hold(f"{Path(shelf.index.location).name}.lock", shelf.numbers, 0):
        shelf.index.purge_orphans()
    assert shelf.database.exists()
    shelf.index.purge_orphans()
    assert not shelf.database.exists()


def test_erasing_leaves_no_word_of_what_was_deleted(shelf: Shelf) -> None:
    shelf.put(9, "Where is Xanadu?", "Near Zanzibarissimo.", title="Kublaikhanly")
    shelf.index.compare(Headway())
    shutil.copyfile(shelf.database, shelf.database.with_name("index.db.0123456789abcdef"))
    shutil.rmtree(shelf.path(9).parent)
    shelf.index.erase([ConversationId(id_of(9))])
    left = b"".join(path.read_bytes() for path in shelf.indexes.rglob("*") if path.is_file()).lower()
    assert [word for word in (b"xanadu", b"zanzibar", b"kublai", b"1769817600009") if word in left] == []
    assert len(shelf.numbers("apples")) == 5


def test_erasing_throws_an_index_away_that_somebody_is_writing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversation_mcp.searching.database.BUSY_SECONDS", 0.01)
    shelf.index.compare(Headway())
    before = inode(shelf.database)
    with closing(sqlite3.connect(shelf.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        shelf.index.erase([ConversationId(id_of(0))])
    assert inode(shelf.database) != before
    assert len(shelf.numbers("apples")) == 5


def test_erasing_while_the_index_is_rebuilt_leaves_an_index_without_it(shelf: Shelf) -> None:
    """A rebuild that has read the conversation must not bring its words back."""
    shelf.put(9, "Where is Xanadu?")
    shelf.index.compare(Headway())

    def describe_and_erase(body: bytes, path: str, conversation_id: ConversationId) -> Indexed:
        if conversation_id == id_of(9):
            shutil.rmtree(shelf.path(9).parent)
            shelf.index.erase([conversation_id])
        return describe(body, path, conversation_id)

    SqliteIndex(shelf.root, shelf.indexes, describe_and_erase, shelf.clock, PlainVault(shelf.root)).rebuild(Headway())
    left = b"".join(path.read_bytes() for path in shelf.indexes.rglob("*") if path.is_file()).lower()
    assert b"xanadu" not in left
    assert len(shelf.numbers("apples")) == 5


def test_a_folder_that_cannot_be_read_is_an_error_and_no_empty_list(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.root.write_text("a file where the folder should be")
    with pytest.raises(FilesystemError):
        shelf.page()


def test_a_file_larger_than_can_be_read_is_skipped(shelf: Shelf) -> None:
    with shelf.path(1).open("r+b") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    page = shelf.page()
    assert (len(page.found), page.unreadable_count) == (4, 1)
