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

from conversation_mcp.clock import utc_now
from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.library import DocumentLibrary
from conversation_mcp.documents.passages import MAX_PASSAGE_CHARS
from conversation_mcp.documents.question import Inquiry
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.documents.scope import Scope
from conversation_mcp.errors import ProviderNotConfiguredError
from conversation_mcp.providers.base import Answer, Progress
from conversation_mcp.providers.local.provider import LocalProvider
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.options import Options

LATER = datetime(2100, 1, 1, tzinfo=UTC)
"""Files that were written in this test were written long ago."""
ASK = """
import sys
from pathlib import Path
from tests.unit.test_local_library import caught_up, found
library = caught_up(Path(sys.argv[1]), Path(sys.argv[2]))
print(len(found(library, "tea", 50)))
"""


def caught_up(folder: Path, indexes: Path, now: datetime = LATER) -> DocumentLibrary:
    library = DocumentLibrary(roots_of([folder], None), indexes, lambda: now, Formats())
    for _ in library.catch_up():
        pass
    return library


def found(library: DocumentLibrary, question: str, limit: int = 9, scope: Scope | None = None) -> list[str]:
    asked = Inquiry.of([ChatMessage("user", question)], frozenset())
    return [passage.text for passage in library.find(asked, scope or Scope(), limit, by_parts=False).passages]


def database_of(indexes: Path) -> Path:
    (path,) = indexes.glob("*/index.db")
    return path


def rows_of(indexes: Path, rows: str = "SELECT id FROM passages ORDER BY id") -> list[int]:
    with closing(sqlite3.connect(database_of(indexes))) as database:
        return [row for (row,) in database.execute(rows)]


def names_of(answer: Answer) -> list[str]:
    return sorted(Path(source.path or "").name for source in answer.sources)


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


async def test_a_line_of_ten_megabytes_is_read_in_pieces(tmp_path: Path) -> None:
    line = "word " * 2_000_000 + "needle in the haystack"
    answer = await answer_of(local(written(tmp_path, {"a.txt": line})), "needle")

    assert [(source.start_line, source.end_line) for source in answer.sources] == [(1, 1)]
    assert "needle in the haystack" in answer.content
    assert len(answer.content) < MAX_PASSAGE_CHARS + 500


@pytest.mark.skipif(os.name != "posix" or os.uname().sysname == "Darwin", reason="names are bytes here")
async def test_odd_names_of_files_spoil_nothing(tmp_path: Path) -> None:
    names = ["line\nbreak.md", os.fsdecode(b"caf\xe9.md"), "tab\t`tick`.md", "[x]*?.md", "-rf.md", " .md", "会话.md"]
    answers = {
        name: await answer_of(local(written(tmp_path / str(n), {name: f"tea {n}"})), "tea")
        for n, name in enumerate(names)
    }

    for name, answer in answers.items():
        assert len(answer.sources) == 1, name
        assert answer.content.count("\n[") + answer.content.startswith("[") == 1
        assert "break.md:1`" in answer.content or "\nbreak" not in answer.content
        assert answer.sources[0].model_dump_json()
    assert "line\ufffdbreak.md:1" in answers["line\nbreak.md"].content


def test_two_hundred_nested_folders_are_walked(tmp_path: Path, indexes: Path) -> None:
    deep = "/".join(["d"] * 200)
    library = caught_up(written(tmp_path / "docs", {f"{deep}/a.md": "Deep tea.", "b.md": "Tea."}), indexes)

    assert sorted(found(library, "tea")) == ["Deep tea.", "Tea."]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["docs/"], ["a.md", "c.py"]),
        (["*.py"], ["c.py"]),
        (["docs/**/*.md", "b.md"], ["a.md", "b.md"]),
        (["-docs"], ["b.md"]),
        (["-*.md"], ["c.py"]),
        (["/docs/deep"], ["c.py"]),
        (["./b.md"], ["b.md"]),
        (["nowhere/"], []),
        (["\\", "[", "!", "b.md"], ["b.md"]),
    ],
)
async def test_a_question_can_be_narrowed_to_paths(tmp_path: Path, names: list[str], expected: list[str]) -> None:
    provider = local(written(tmp_path, {"docs/a.md": "tea one", "b.md": "tea two", "docs/deep/c.py": "# tea three"}))
    answer = await answer_of(provider, "tea", options=Options.model_validate({"search_domain_filter": names}))

    assert names_of(answer) == expected
    assert ("None of the named documents has such a path and date" in answer.content) is (not expected)


async def test_a_question_can_be_narrowed_to_an_absolute_path(tmp_path: Path) -> None:
    provider = local(written(tmp_path, {"docs/a.md": "tea one", "b.md": "tea two"}))
    options = Options.model_validate({"search_domain_filter": [str(tmp_path / "docs")]})

    assert names_of(await answer_of(provider, "tea", options=options)) == ["a.md"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"search_recency_filter": "week"}, ["new.md"]),
        ({"search_recency_filter": "year"}, ["new.md", "old.md"]),
        ({"search_after_date_filter": "2026-03-01"}, ["new.md"]),
        ({"search_before_date_filter": "2026-01-31"}, ["old.md"]),
        ({"search_before_date_filter": "2026-01-30"}, []),
        ({"search_after_date_filter": "2026-01-31", "search_before_date_filter": "2026-03-30"}, ["new.md", "old.md"]),
    ],
)
async def test_a_question_can_be_narrowed_to_the_dates_of_files(
    tmp_path: Path, filters: dict[str, str], expected: list[str]
) -> None:
    folder = written(tmp_path, {"old.md": "tea one", "new.md": "tea two"})
    for name, day in (("old.md", "2026-01-31T23:59:59"), ("new.md", "2026-03-30T12:00:00")):
        moment = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
        os.utime(folder / name, (moment, moment))
    provider = local(folder, now=lambda: datetime(2026, 4, 1, tzinfo=UTC))
    answer = await answer_of(provider, "tea", options=Options.model_validate(filters))

    assert names_of(answer) == expected


async def test_files_that_were_read_in_vain_are_counted_for_the_doctor(folder: Path) -> None:
    written(folder, {"x.md": b"a\0b", "y.pdf": b"no pdf", ".hidden": "x", "z.exe": "x"})
    provider = local(folder)
    before = await anyio.to_thread.run_sync(provider.survey)
    await answer_of(provider, "tea")
    after = await anyio.to_thread.run_sync(provider.survey)

    assert before.read == 5
    assert after.read == 3
    assert [(reason, count) for reason, count, _ in after.left_out] == [
        ("hidden", 1), ("of a kind that is not read", 1), ("binary", 1), ("that cannot be converted", 1),
    ]  # fmt: skip
