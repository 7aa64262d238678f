"""Documents of odd names and depths, and questions that are narrowed to some of them."""

import os
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from tests.fixtures.documents import answer_of, local, written
from tests.fixtures.shelves import caught_up, found, names_of

from conversation_mcp.records.options import Options


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "docs", {"a.md": "Black tea.", "sub/b.md": "Green tea.", "c.md": "Coffee."})


@pytest.fixture
def indexes(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "documents"


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
