"""The index of documents: it follows the files, whatever happens to them and to it."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from tests.fixtures.documents import answer_of, events_of, local, written
from tests.fixtures.shelves import LATER, caught_up, found, names_of

from conversation_mcp.clock import utc_now
from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.library import DocumentLibrary
from conversation_mcp.documents.passages import MAX_PASSAGE_CHARS
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.errors import ProviderNotConfiguredError
from conversation_mcp.providers.base import Progress
from conversation_mcp.providers.local.provider import LocalProvider

ASK = """
import sys
from pathlib import Path
from tests.unit.test_local_library import caught_up, found
library = caught_up(Path(sys.argv[1]), Path(sys.argv[2]))
print(len(found(library, "tea", 50)))
"""


def database_of(indexes: Path) -> Path:
    (path,) = indexes.glob("*/index.db")
    return path


def rows_of(indexes: Path, rows: str = "SELECT id FROM passages ORDER BY id") -> list[int]:
    with closing(sqlite3.connect(database_of(indexes))) as database:
        return [row for (row,) in database.execute(rows)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "docs", {"a.md": "Black tea.", "sub/b.md": "Green tea.", "c.md": "Coffee."})


@pytest.fixture
def indexes(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "documents"


def test_it_is_kept_in_the_cache_for_its_owner_alone_and_knows_its_documents(folder: Path, indexes: Path) -> None:
    before = os.umask(0)
    try:
        assert found(caught_up(folder, indexes), "tea") == ["Black tea.", "Green tea."]
    finally:
        os.umask(before)
    home = database_of(indexes).parent
    assert (home / "folder").read_text() == str(folder)
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (indexes, home)} == {0o700}


def test_each_set_of_documents_has_one_of_its_own(folder: Path, indexes: Path) -> None:
    caught_up(folder, indexes)
    caught_up(folder / "sub", indexes)
    DocumentLibrary(roots_of([folder / "*.md"], None), indexes, lambda: LATER, Formats())
    (folder / "link").symlink_to(folder / "sub")
    caught_up(folder / "link", indexes)

    assert len(list(indexes.glob("*/index.db"))) == 2


def test_only_what_changed_is_read_again(folder: Path, indexes: Path) -> None:
    caught_up(folder, indexes)
    before = rows_of(indexes)
    os.utime(folder / "sub/b.md", (1, 1))
    written(folder, {"a.md": "White tea."})
    library = caught_up(folder, indexes)

    after = rows_of(indexes)
    assert sorted(found(library, "tea")) == ["Green tea.", "White tea."]
    assert len(set(before) & set(after)) == 2
    assert found(library, "black") == []


def test_a_file_that_was_written_this_moment_is_not_trusted(folder: Path, indexes: Path) -> None:
    now = datetime.fromtimestamp((folder / "a.md").stat().st_mtime, UTC)
    caught_up(folder, indexes, now)
    with closing(sqlite3.connect(database_of(indexes))) as database:
        assert database.execute("SELECT DISTINCT stamp FROM files").fetchall() == [(0,)]
    caught_up(folder, indexes, now + timedelta(seconds=3))
    with closing(sqlite3.connect(database_of(indexes))) as database:
        assert (0,) not in database.execute("SELECT DISTINCT stamp FROM files").fetchall()


def test_what_is_gone_is_gone_from_answers_and_from_the_index(folder: Path, indexes: Path) -> None:
    caught_up(folder, indexes)
    (folder / "a.md").unlink()
    shutil.rmtree(folder / "sub")
    library = caught_up(folder, indexes)

    assert found(library, "tea black green") == []
    assert len(rows_of(indexes)) == len(rows_of(indexes, "SELECT id FROM files")) == 1


def test_a_file_that_is_changed_during_a_question_is_quoted_as_it_is_now(folder: Path, indexes: Path) -> None:
    library = caught_up(folder, indexes)
    written(folder, {"a.md": "Red tea."})
    (folder / "sub/b.md").unlink()

    assert found(library, "tea") == ["Red tea."]


def test_a_file_that_becomes_a_folder_and_a_folder_that_becomes_a_file_are_followed(
    folder: Path, indexes: Path
) -> None:
    library = caught_up(folder, indexes)
    (folder / "a.md").unlink()
    written(folder, {"a.md/inner.md": "Oolong tea."})
    shutil.rmtree(folder / "sub")
    written(folder, {"sub": "no document"})

    assert found(library, "tea") == ["Oolong tea."]


async def test_documents_that_disappear_between_two_questions_are_an_error_that_names_them(folder: Path) -> None:
    provider = local(folder)
    assert len((await answer_of(provider, "tea")).sources) == 2
    shutil.move(folder, folder.with_name("moved"))

    with pytest.raises(ProviderNotConfiguredError, match=r"docs does not exist or cannot be reached"):
        await answer_of(provider, "tea")
    shutil.move(folder.with_name("moved"), folder)
    assert len((await answer_of(provider, "tea")).sources) == 2


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + bytes(4000)])
def test_an_index_that_is_damaged_is_made_anew(folder: Path, indexes: Path, damage: bytes) -> None:
    caught_up(folder, indexes)
    database_of(indexes).write_bytes(damage)
    library = caught_up(folder, indexes)

    assert found(library, "tea") == ["Black tea.", "Green tea."]
    assert library.problem is None


@pytest.mark.parametrize("table", ["files", "passages", "words", "words_data"])
def test_an_index_that_lacks_a_table_is_made_anew(folder: Path, indexes: Path, table: str) -> None:
    caught_up(folder, indexes)
    with closing(sqlite3.connect(database_of(indexes))) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("DELETE FROM sqlite_schema WHERE name = ?", (table,))
        database.commit()
    library = caught_up(folder, indexes)

    assert library.has_text
    assert found(library, "tea") == ["Black tea.", "Green tea."]


def test_an_index_that_is_lost_between_the_look_and_the_question_is_made_anew(folder: Path, indexes: Path) -> None:
    library = caught_up(folder, indexes)
    database_of(indexes).write_bytes(b"overwritten")
    assert found(library, "tea") == ["Black tea.", "Green tea."]
    shutil.rmtree(indexes)
    assert found(library, "tea") == ["Black tea.", "Green tea."]


async def test_where_no_index_can_be_kept_the_answer_is_the_same_with_a_notice(folder: Path, tmp_path: Path) -> None:
    written(tmp_path, {"file": "in the way"})
    kept = await answer_of(local(folder), "tea")
    provider = LocalProvider([folder], None, tmp_path / "file" / "documents", utc_now)
    first, second = await answer_of(provider, "tea"), await answer_of(provider, "tea")

    assert first.content == second.content == kept.content
    assert [notice.partition(" (")[0] for notice in first.notices] == [
        "no index of the documents is kept, so every file was read"
    ]
    written(folder, {"a.md": "Coffee too."})
    assert names_of(await answer_of(provider, "tea")) == ["b.md"]


def test_the_index_of_documents_that_are_gone_is_purged_and_no_other(folder: Path, indexes: Path) -> None:
    library = caught_up(folder, indexes)
    caught_up(folder / "sub", indexes)
    shutil.rmtree(folder / "sub")
    library.purge_orphans()

    assert (database_of(indexes).parent / "folder").read_text() == str(folder)


@pytest.mark.slow
def test_processes_that_make_it_at_once_or_are_killed_leave_nothing_wrong(tmp_path: Path, indexes: Path) -> None:
    many = written(tmp_path / "many", {f"{number}.md": f"tea number {number}" for number in range(400)})
    command: Sequence[str] = [sys.executable, "-c", ASK, str(many), str(indexes)]
    root = str(Path(__file__).parents[2])
    killed = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL)
    while not list(indexes.glob("*/index.db")) and killed.poll() is None:
        pass
    killed.kill()
    killed.wait()
    processes = [subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(3)]

    assert [process.communicate()[0] for process in processes] == ["50\n"] * 3
    assert len(rows_of(indexes)) == 400


async def test_questions_at_the_same_time_do_not_disturb_each_other(folder: Path) -> None:
    provider = local(folder)
    answers: list[list[str]] = []

    async def ask() -> None:
        answers.append(names_of(await answer_of(provider, "tea")))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(ask)
    assert answers == [["a.md", "b.md"]] * 8


async def test_progress_tells_how_much_of_many_files_is_read(tmp_path: Path) -> None:
    many = written(tmp_path / "many", {f"{number}.md": f"tea number {number}" for number in range(60)})
    first = [event for event in await events_of(local(many), "tea") if isinstance(event, Progress)]
    second = [event for event in await events_of(local(many), "tea") if isinstance(event, Progress)]

    assert first[0].text == "reading 60 files ░░░░░░░░░░ 0 %"
    assert first[-1].text == "reading 60 files ▓▓▓▓▓▓▓▓▓▓ 100 %"
    assert second[-1].text.endswith(("looking through 60 files", "100 %"))


@pytest.mark.slow
async def test_a_line_of_ten_megabytes_is_read_in_pieces(tmp_path: Path) -> None:
    line = "word " * 2_000_000 + "needle in the haystack"
    answer = await answer_of(local(written(tmp_path, {"a.txt": line})), "needle")

    assert [(source.start_line, source.end_line) for source in answer.sources] == [(1, 1)]
    assert "needle in the haystack" in answer.content
    assert len(answer.content) < MAX_PASSAGE_CHARS + 500
