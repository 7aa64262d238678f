"""An index that is locked, or on a disk that is full or cannot be written, costs time but no answer."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.benchmarks.corpus import Corpus
from tests.fixtures.library import Shelf, child, output_of
from tests.fixtures.stores import fill, public_folder, small_disk

from conversation_mcp.stores.headway import Headway


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    for number in range(5):
        shelf.put(number, f"apples {number}?", "Green.")
    return shelf


def test_an_index_that_somebody_is_writing_for_long_costs_time_but_no_answer(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.searching.database.BUSY_SECONDS", 0.01)
    shelf.index.compare(Headway())
    with closing(sqlite3.connect(shelf.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert len(shelf.numbers("apples")) == 5
        shelf.put(7, "apples 7?")
        page = shelf.page("apples")
    assert len(page.found) == 6
    assert "database is locked" in page.notices[0]
    assert shelf.page("apples").notices == ()


@pytest.mark.slow
def test_a_cache_folder_that_cannot_be_written_costs_time_but_no_answer() -> None:
    with public_folder() as folder:
        shelf = Shelf(folder)
        for number in range(3):
            shelf.put(number, "apples?")
        for path in (shelf.root, *shelf.root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        shelf.indexes.mkdir(parents=True)
        shelf.indexes.chmod(0o755)
        shelf.indexes.parent.chmod(0o755)
        process = child("look-as-nobody", folder)
        assert process.stdin
        assert process.stdout
        first = process.stdout.readline()
        assert process.stdout.readline() == "again?\n"
        shelf.put(3, "pears?").chmod(0o644)
        shelf.path(3).parent.chmod(0o755)
        second = output_of(process)
    assert first.startswith("3 no index is kept, so every file was read (")
    assert "permission denied" in first
    assert second.startswith("4 no index is kept")


@pytest.mark.slow
def test_a_full_disk_costs_time_but_no_answer(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        shelf = Shelf(tmp_path)
        shelf.indexes = disk / "index"
        shelf.index = shelf.open()
        Corpus().write(shelf.root, 50)
        fill(disk, 100_000)
        page = shelf.page(limit=100)
        assert len(page.found) == 50
        assert "disk is full" in page.notices[0]
        (disk / "ballast").unlink()
        page = shelf.page(limit=100)
        assert (len(page.found), page.notices) == (50, ())
