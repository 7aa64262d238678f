"""What is said to somebody who types a command in a way that cannot be meant."""

from pathlib import Path

import pytest
from tests.fixtures.cli import Here, put_conversation
from tests.fixtures.folders import ID

OTHER = "20260131-1769817600001"


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--logs-dir", "x", "show", "last"), "VALIDATION_ERROR: --logs-dir belongs after show"),
        (("lst",), "No such command 'lst'."),
        (("show",), "Missing argument 'ID'."),
        (("list", "--limit", "many"), "valid integer"),
        (("list", "--nonsense"), "No such option: --nonsense"),
        (("ask", "--recency", "fortnight", "what?"), "hour"),
        (("doctor", "--write", "emacs"), "claude-code"),
        (("doctor", "--yes"), "VALIDATION_ERROR: --yes goes with --write."),
        (("config", "--force"), "VALIDATION_ERROR: --force goes with --write."),
        (("show", "20260131", "--raw", "--json"), "VALIDATION_ERROR: --raw and --json cannot be combined."),
        (("show", "yesterday"), "VALIDATION_ERROR: ID must look like 20260131-1769817600000"),
        (("ask", " "), "VALIDATION_ERROR: the question is empty."),
        (("ask", "--effort", "low", "what?"), "VALIDATION_ERROR: --effort cannot be used without --deep."),
        (("ask", "--deep", "--related", "what?"), "VALIDATION_ERROR: --related cannot be used with --deep."),
        (("ask", "--after", "soon", "what?"), "VALIDATION_ERROR: --after must be a date such as 2026-01-31"),
        (("ask", "--domain", "https://x.org", "what?"), "VALIDATION_ERROR: --domain takes bare domains"),
        (
            ("ask", "--recency", "day", "--after", "2026-01-01", "what?"),
            "VALIDATION_ERROR: --recency cannot be combined with dates",
        ),
    ],
)
def test_wrong_usage_is_explained_on_stderr_and_its_exit_code_is_2(
    here: Here, arguments: tuple[str, ...], problem: str
) -> None:
    ended = here(*arguments)
    assert ended.code == 2
    assert problem in ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err


def test_an_id_is_found_by_its_start_and_last_is_the_latest(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="older")
    put_conversation(tmp_path, OTHER, title="newer", updatedAt="2026-02-01T00:00:00Z")
    assert here("show", "last").out.startswith("# newer\n")
    assert here("show", ID).out.startswith("# older\n")
    assert here("show", OTHER[:22]).out.startswith("# newer\n")


def test_the_start_of_two_ids_is_not_guessed_at(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    put_conversation(tmp_path, OTHER)
    ended = here("show", "20260131-17698176")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"VALIDATION_ERROR: 2 conversations begin with 20260131-17698176: {ID}, {OTHER}. Type more of the id.\n"
    )


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("last", 'there are no conversations in {folder}. Start one with: conversation-mcp ask "…"'),
        ("2026", "no conversation 2026… in {folder}. Check the id."),
        (ID, f"no conversation {ID} in {{folder}}. Check the id."),
    ],
)
def test_a_conversation_that_is_not_there_is_not_found(here: Here, tmp_path: Path, named: str, problem: str) -> None:
    ended = here("show", named)
    folder = tmp_path / "conversation-logs"
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"CONVERSATION_NOT_FOUND: {problem.format(folder=folder)}\n"
    assert not folder.exists()


def test_last_passes_a_damaged_file_by_and_says_so(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="whole")
    put_conversation(tmp_path, OTHER).write_text("{", encoding="utf-8")
    ended = here("show", "last")
    assert ended.out.startswith("# whole\n")
    assert "CONVERSATION_CORRUPTED" in ended.err


def test_a_folder_that_is_none_ends_a_command_that_reads_it(here: Here, tmp_path: Path) -> None:
    (tmp_path / "conversation-logs").write_text("a file", encoding="utf-8")
    ended = here("list")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("FILESYSTEM_ERROR: ")
