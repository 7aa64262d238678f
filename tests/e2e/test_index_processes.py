"""Several processes on one index, processes that die while they make it, and the memory that a list takes."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.benchmarks.corpus import Corpus
from tests.fixtures.cli import PROGRAM, clean_environment
from tests.fixtures.library import Shelf, child, output_of, wanted_of

from conversation_mcp.stores.files.finder import READ_AT_ONCE
from conversation_mcp.stores.headway import Headway

OPENERS = 12


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def is_sound(shelf: Shelf) -> bool:
    with closing(sqlite3.connect(shelf.database)) as database:
        database.execute("INSERT INTO messages (messages) VALUES ('integrity-check')")
        return database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
def test_many_processes_may_open_a_new_index_at_once(shelf: Shelf, tmp_path: Path) -> None:
    Corpus().write(shelf.root, 40)
    processes = [child("wait-and-look", tmp_path) for _ in range(OPENERS)]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    assert [output_of(process) for process in processes] == ["40"] * OPENERS
    assert is_sound(shelf)


@pytest.mark.slow
def test_two_processes_rebuild_at_once_without_harm(shelf: Shelf, tmp_path: Path) -> None:
    Corpus().write(shelf.root, 150)
    processes = [child("rebuild", tmp_path, "4") for _ in range(2)]
    while any(process.poll() is None for process in processes):
        page = shelf.page(limit=200)
        assert (len(page.found), page.notices) == (150, ())
    assert [output_of(process) for process in processes] == ["150", "150"]
    assert len(shelf.page(limit=200).found) == 150
    assert is_sound(shelf)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a POSIX affair")
@pytest.mark.parametrize("after", [0, 1, 60, 149])
def test_a_process_killed_while_it_makes_the_index_leaves_nothing_wrong(
    shelf: Shelf, tmp_path: Path, after: int
) -> None:
    Corpus().write(shelf.root, 150)
    process = child("die", tmp_path, str(after))
    output, _ = process.communicate(timeout=100)
    assert (process.returncode, output) == (-signal.SIGKILL, "")
    assert not shelf.index.page(wanted_of(), 5).is_complete
    assert len(shelf.page(limit=200).found) == 150
    assert is_sound(shelf)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a POSIX affair")
@pytest.mark.parametrize("after", [0, 75, 149])
def test_a_process_killed_while_it_rebuilds_leaves_the_old_index_to_all_others(
    shelf: Shelf, tmp_path: Path, after: int
) -> None:
    Corpus().write(shelf.root, 150)
    shelf.index.compare(Headway())
    before = shelf.database.stat().st_ino
    output, _ = (process := child("die", tmp_path, str(after), "rebuild")).communicate(timeout=100)
    assert (process.returncode, output) == (-signal.SIGKILL, "")
    assert shelf.database.stat().st_ino == before
    page = shelf.index.page(wanted_of(), 200)
    assert (len(page.found), page.is_complete, page.notices) == (150, True, ())
    shelf.index.rebuild(Headway())
    assert shelf.database.stat().st_ino != before
    assert len(shelf.page(limit=200).found) == 150
    assert is_sound(shelf)


@pytest.mark.slow
def test_what_another_process_writes_is_found(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(1, "apples?")
    assert shelf.numbers() == [1]
    shelf.put(2, "pears?")
    assert output_of(child("look", tmp_path, "pears")) == "1"
    assert shelf.numbers("pears") == [2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_a_list_takes_no_more_memory_for_more_conversations(tmp_path: Path) -> None:
    peaks: list[int] = []
    for count in (100, 3_000):
        shelf = Shelf(tmp_path / str(count))
        Corpus().write(shelf.root, count)
        shelf.page(limit=1)
        found, peak = output_of(child("peak", tmp_path / str(count))).split()
        assert found == "20"
        peaks.append(int(peak))
    assert peaks[1] < peaks[0] * 1.1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="asks the system for the peak of memory")
def test_a_whole_list_takes_no_more_memory_for_more_conversations(tmp_path: Path) -> None:
    peaks: list[list[int]] = []
    for count in (READ_AT_ONCE + 100, 3 * READ_AT_ONCE):
        folder = tmp_path / str(count)
        Corpus().write(folder / "conversation-logs", count)
        peak_of(folder, "index", "--rebuild")
        peaks.append([peak_of(folder, "list", "--json"), peak_of(folder, "list", "--tool", "search")])
    assert all(of_many < of_few * 1.1 for of_few, of_many in zip(*peaks, strict=True))


def peak_of(folder: Path, *command: str) -> int:
    """Run a command and return the most memory that it used."""
    process = subprocess.Popen(
        [*PROGRAM, *command], env=clean_environment(folder), cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss
