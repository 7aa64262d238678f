"""Which conversation is meant by what was typed."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.cli import Here, answered, put_conversation
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home

OTHER = "20260131-1769817600001"


@pytest.fixture
def on_files(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


def test_an_id_is_found_by_its_start_and_last_is_the_latest(here: Here, home: Home) -> None:
    home.put(answered(ID, title="older"))
    home.put(answered(OTHER, title="newer", updatedAt="2026-02-01T00:00:00Z"))
    assert here("show", "last").out.startswith("# newer\n")
    assert here("show", ID).out.startswith("# older\n")
    assert here("show", OTHER[:22]).out.startswith("# newer\n")


def test_the_start_of_two_ids_is_not_guessed_at(here: Here, home: Home) -> None:
    home.put(answered(ID, title="Two\nlines \x1b[2J"))
    home.put(answered(OTHER, archived=True))
    ended = here("show", "20260131-17698176")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == snapshot("""\
VALIDATION_ERROR: 2 conversations begin with 20260131-17698176. Type more of the id:
  20260131-1769817600001  What is a B-tree?
  20260131-1769817600000  Two lines [2J
""")


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("last", 'there are no conversations in {folder}. Start one with: conversation-mcp ask "…"'),
        ("2026", "no conversation 2026… in {folder}. Check the id."),
        ("/heaps", "no conversation in {folder} fits 'heaps'. Try other words with: conversation-mcp search"),
        (ID, f"no conversation {ID} in {{folder}}. Check the id."),
    ],
)
def test_a_conversation_that_is_not_there_is_not_found(here: Here, home: Home, named: str, problem: str) -> None:
    ended = here("show", named)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"CONVERSATION_NOT_FOUND: {problem.format(folder=home.place)}\n"
    assert not (home.folder / "conversation-logs").exists()


def test_last_passes_a_damaged_file_by_and_says_so(on_files: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="whole")
    put_conversation(tmp_path, OTHER).write_text("{", encoding="utf-8")
    ended = on_files("show", "last")
    assert ended.out.startswith("# whole\n")
    assert ended.err.startswith("Notice: a conversation that cannot be read was skipped: ")


def test_of_many_that_begin_alike_the_newest_are_shown(here: Here, home: Home) -> None:
    for number in range(9):
        home.put(answered(f"20260131-{number:013}", title=f"number {number}"))
    lines = here("show", "20260131-").err.splitlines()
    assert lines[0] == "VALIDATION_ERROR: 9 conversations begin with 20260131-. Type more of the id:"
    assert lines[1:] == [f"  20260131-{number:013}  number {number}" for number in (8, 7, 6, 5, 4)] + ["  …"]


def test_words_stand_for_the_conversation_that_fits_them_best(here: Here, home: Home) -> None:
    home.put(answered(ID, title="all about heaps", updatedAt="2026-02-01T00:00:00Z"))
    home.put(answered(OTHER, title="heaps and tries, tries, tries"))
    one = here("show", "/all about heaps")
    assert one.out.startswith("# all about heaps\n")
    best = here("show", "/tries")
    assert (best.out.splitlines()[0], best.err) == ("# heaps and tries, tries, tries", "")
    several = here("show", "/heaps")
    assert several.err == snapshot("/heaps means 20260131-1769817600000, all about heaps; others match too.\n")


def test_words_find_an_archived_conversation_only_where_no_other_fits(here: Here, home: Home) -> None:
    home.put(answered(ID, title="heaps", archived=True))
    assert here("show", "/heaps").out.startswith("# heaps\n")
    home.put(answered(OTHER, title="heaps in sight"))
    assert here("show", "/heaps").out.startswith("# heaps in sight\n")


@pytest.mark.parametrize("words", ['/"', "/NEAR(", "/AND OR", "/" + "x" * 10_000, "/../etc/passwd", "//"])
def test_any_words_after_the_slash_are_data(here: Here, home: Home, words: str) -> None:
    home.put(answered(ID))
    ended = here("show", words)
    assert (ended.code, ended.out) == (1, "")
    assert "Traceback" not in ended.err
