"""What is read without the parser, and read as the parser would."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.fixtures.cli import Here, put_conversation

from conversation_mcp.cli.quick import ListArguments, quick_list, quick_serve


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        (["list"], ListArguments()),
        (["list", "--json", "--limit", "3"], ListArguments(limit=3, as_json=True)),
        (["list", "--logs-dir", "/x"], ListArguments(logs_dir=Path("/x"))),
        (["list", "--limit", "-1"], None),
        (["list", "--limit", "²"], None),
        (["list", "--limit"], None),
        (["list", "--logs-dir", "--json"], None),
        (["list", "--help"], None),
        (["list", "--limit=3"], ListArguments(limit=3)),
        (["list", "--logs-dir=/x=y", "--json"], ListArguments(logs_dir=Path("/x=y"), as_json=True)),
        (["list", "--limit="], None),
        (["list", "--limit=x"], None),
        (["list", "--json=yes"], None),
        (["list", "--logs-dir=--json"], None),
        (["list", "more"], None),
        (["show", "last"], None),
        (["--logs-dir", "/x"], None),
        ([], None),
    ],
)
def test_the_quick_way_takes_only_what_it_is_sure_of(arguments: list[str], parsed: ListArguments | None) -> None:
    assert quick_list(arguments) == parsed


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["serve"], {}),
        (["serve", "--logs-dir", "/x"], {"logs_dir": Path("/x")}),
        (["--logs-dir=/x=y", "--logs-dir", "/z"], {"logs_dir": Path("/z")}),
        (
            ["--documents", "a", "--documents=b", "--tools", "all"],
            {"documents": [Path("a"), Path("b")], "tools": "all"},
        ),
        (["serve", "--documents"], None),
        (["--tools", ""], None),
        (["--tools="], None),
        (["--logs-dir", "--documents", "a"], None),
        (["--logs-dir", "/x", "serve"], None),
        (["serve", "serve"], None),
        (["serve", "--help"], None),
        (["--"], None),
        (["list"], None),
    ],
)
def test_a_start_is_read_quickly_if_it_is_certain_what_is_meant(
    arguments: list[str], options: Mapping[str, object] | None
) -> None:
    assert quick_serve(arguments) == options


def test_the_quick_way_and_the_parser_print_the_same(here: Here, tmp_path: Path) -> None:
    for number in range(3):
        put_conversation(tmp_path, f"20260131-{number:013}")
    elsewhere = str(tmp_path / "conversation-logs" / "elsewhere")
    for arguments in (["--limit", "2"], ["--json", "--limit=2"], ["--logs-dir", elsewhere]):
        assert quick_list(["list", *arguments, "--"]) is None
        assert here("list", *arguments) == here("list", *arguments, "--")


@pytest.mark.parametrize("arguments", [("--tools", "moon"), ("serve", "--logs-dir", "x", "--tools=moon")])
def test_a_start_that_cannot_be_meant_is_refused_alike(here: Here, arguments: tuple[str, ...]) -> None:
    quick = here(*arguments)
    assert quick == here(*arguments, "--")
    assert (quick.code, quick.out) == (2, "")
    assert quick.err.startswith("VALIDATION_ERROR: there is no tool set 'moon'")
