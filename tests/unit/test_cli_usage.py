"""What is said to somebody who types a command in a way that cannot be meant."""

import json
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsStr
from tests.fixtures.cli import Here
from tests.fixtures.folders import ID

from conversation_mcp.settings import TABLES, Settings
from conversation_mcp.sources import variable_of


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--logs-dir", "x", "show", "last"), "VALIDATION_ERROR: --logs-dir belongs after show"),
        (("lst",), "No such command 'lst'."),
        (("show",), "Missing argument 'ID'."),
        (("list", "--limit", "many"), "Invalid value for '--limit': must be a whole number; got 'many'."),
        (("list", "--cursor", "x"), "VALIDATION_ERROR: --cursor must be the nextCursor of an earlier result"),
        (("search", "x", "--cursor", "x"), "VALIDATION_ERROR: --cursor must be the nextCursor"),
        (("serve", "--tools", "moon"), "VALIDATION_ERROR: there is no tool set 'moon'"),
        (
            ("ask", "what", "is", "it?"),
            'VALIDATION_ERROR: the question must be one argument; put it in quotes: "what is',
        ),
        (("list", "--until", "3m"), "VALIDATION_ERROR: --before must be a date or time"),
        (("list", "--after", "soon"), "VALIDATION_ERROR: --after must be a date or time such as 2026-01-31"),
        (("search", "x", "--before", "soon"), "VALIDATION_ERROR: --before must be a date or time"),
        (("stats", "--since", "soon"), "VALIDATION_ERROR: --since must be a date or time"),
        (("stats", "--by", "moon"), "provider"),
        (("list", "--archived", "--state", "failed"), "VALIDATION_ERROR: --archived and --state failed cannot"),
        (("show", "/ "), "VALIDATION_ERROR: the / must be followed by words of the conversation"),
        (("list", "--nonsense"), "No such option: --nonsense"),
        (("ask", "--recency", "fortnight", "what?"), "hour"),
        (("doctor", "--write", "emacs"), "claude-code"),
        (("doctor", "--yes"), "VALIDATION_ERROR: --yes goes with --write."),
        (("config", "--force"), "VALIDATION_ERROR: --force goes with --write."),
        (("show", "20260131", "--raw", "--json"), "VALIDATION_ERROR: --raw and --json cannot be combined."),
        (("show", "yesterday"), "VALIDATION_ERROR: ID must look like 20260131-1769817600000"),
        (("ask", " "), "VALIDATION_ERROR: the question is empty."),
        (("ask", "--effort", "low", "what?"), "VALIDATION_ERROR: --effort cannot be used without --deep."),
        (("ask", "--chat", "--related", "what?"), "VALIDATION_ERROR: --related cannot be used with --chat."),
        (("ask", "--after", "soon", "what?"), "VALIDATION_ERROR: --after must be a date such as 2026-01-31"),
        (("ask", "--domain", "https://x.org", "what?"), "VALIDATION_ERROR: --domain accepts bare domains"),
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
    assert ended.out == "" or "--json" in arguments
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (
            ("show", "20260131", "--raw", "--json"),
            2,
            {"code": "VALIDATION_ERROR", "message": "--raw and --json cannot be combined.", "retryable": False},
        ),
        (
            ("list", "--json", "--limit", "many"),
            2,
            {
                "code": "VALIDATION_ERROR",
                "message": "Invalid value for '--limit': must be a whole number; got 'many'.",
                "retryable": False,
            },
        ),
        (
            ("tag", ID, "word", "--json"),
            1,
            {
                "code": "CONVERSATION_NOT_FOUND",
                "message": IsStr(regex=f"no conversation {ID} in .*"),
                "conversationId": ID,
                "retryable": False,
            },
        ),
    ],
)
def test_a_program_that_asked_for_json_gets_its_errors_so_and_a_person_the_sentence(
    here: Here, arguments: tuple[str, ...], code: int, error: dict[str, Any]
) -> None:
    ended = here(*arguments)
    assert (ended.code, json.loads(ended.out)) == (code, {"error": error})
    assert json.loads(ended.out)["error"]["message"].splitlines()[0] in ended.err


@pytest.mark.parametrize(
    "command", [["list"], ["list", "--json"], ["list", "--tool", "x", "--json"], ["search", "x", "--json"], ["stats"]]
)
def test_a_folder_that_is_none_ends_a_command_that_reads_it(here: Here, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "conversation-logs").write_text("a file", encoding="utf-8")
    ended = here(*command)
    assert ended.code == 1
    assert ("--json" in command) == ('"FILESYSTEM_ERROR"' in ended.out)
    assert ended.err.startswith("FILESYSTEM_ERROR: ")


@pytest.mark.parametrize(
    ("variable", "command"),
    [
        *(
            ("CONVERSATION_MCP_STORE", command)
            for command in (["list"], ["search", "x"], ["show", "last"], ["ask", "x"])
        ),
        ("CONVERSATION_MCP_RETRIES", ["ask", "x"]),
        ("CONVERSATION_MCP_RETRIES", ["models"]),
    ],
)
def test_a_wrong_setting_ends_every_command_that_reads_it_as_a_wrong_argument_does(
    here: Here, monkeypatch: pytest.MonkeyPatch, command: list[str], variable: str
) -> None:
    monkeypatch.setenv(variable, "nowhere://x")
    ended = here(*command)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("VALIDATION_ERROR: ")


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name not in TABLES])
@pytest.mark.parametrize("value", ["x y", "-1"])
def test_no_sentence_of_the_library_that_checks_values_reaches_a_person(
    here: Here, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(variable_of(name), value)
    ended = here("models", "--limit", "1")
    for words in ("nput should", "alue error", "pydantic", "unable to parse", "should match"):
        assert words not in ended.err
