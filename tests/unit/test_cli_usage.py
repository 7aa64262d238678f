"""What is said to somebody who types a command in a way that cannot be meant."""

from pathlib import Path

import pytest
from tests.fixtures.cli import Here


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
        (("list", "--after", "soon"), "VALIDATION_ERROR: --after must be a date or time such as 2026-01-31"),
        (("search", "x", "--before", "soon"), "VALIDATION_ERROR: --before must be a date or time"),
        (("stats", "--since", "soon"), "VALIDATION_ERROR: --since must be a date or time"),
        (("stats", "--by", "moon"), "provider"),
        (("list", "--archived", "--state", "failed"), "VALIDATION_ERROR: --archived and --state failed cannot"),
        (("show", "/ "), "VALIDATION_ERROR: after the / come words of the conversation"),
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


@pytest.mark.parametrize(
    "command", [["list"], ["list", "--json"], ["list", "--tool", "x", "--json"], ["search", "x", "--json"], ["stats"]]
)
def test_a_folder_that_is_none_ends_a_command_that_reads_it(here: Here, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "conversation-logs").write_text("a file", encoding="utf-8")
    ended = here(*command)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("FILESYSTEM_ERROR: ")
