"""Lists, searches and conversations on a terminal: no line too wide, no sign that commands it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from rich.cells import cell_len
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import Terminal, on_terminal, put_conversation
from tests.fixtures.folders import ID
from tests.fixtures.shown import shown

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def test_a_long_conversation_goes_through_the_pager_and_a_short_one_does_not(tmp_path: Path) -> None:
    pager = tmp_path / "less"
    pager.write_text("#!/bin/sh\necho PAGED; cat >/dev/null\n", encoding="utf-8")
    pager.chmod(0o755)
    put_conversation(tmp_path, ID)
    assert "PAGED" not in on_terminal(tmp_path, "show", "last", PAGER=str(pager)).out
    assert on_terminal(tmp_path, "show", "last", PAGER=str(pager), lines=5).out == "PAGED"


@pytest.mark.parametrize("columns", [20, 40, 80, 160])
def test_no_line_of_a_list_is_wider_than_the_terminal(tmp_path: Path, columns: int) -> None:
    put_conversation(tmp_path, ID, title="A title that is far too long for any list " * 3)
    put_conversation(tmp_path, f"{ID[:-1]}1", title="漢字の題名は二倍の幅がある" * 9)
    for command in (["list"], ["search", "tree"]):
        ended = on_terminal(tmp_path, *command, columns=columns)
        assert max(map(cell_len, ended.out.splitlines())) <= columns
        assert "title" in ended.out


def test_a_search_marks_the_words_that_were_found(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="A **bold** [red]title[/red]")
    with (
        Terminal(tmp_path, "search", "balanced") as coloured,
        Terminal(tmp_path, "search", "balanced", NO_COLOR="1") as plain,
    ):
        assert coloured.end() == plain.end()
    assert "A \x1b[1;33mbalanced\x1b[0m tree [1]." in coloured.output
    assert "A \x1b[1mbalanced\x1b[0m tree [1]." in plain.output
    assert shown(on_terminal(tmp_path, "search", "balanced"), tmp_path) == snapshot("""\
A **bold** [red]title[/red]  31 Jan · message 3 · 20260131-1769817600000
  A balanced tree [1].\
""")


def test_a_list_says_when_there_is_more_and_what_is_not_there(tmp_path: Path) -> None:
    for number in range(22):
        put_conversation(tmp_path, f"20260131-{number:013}", archived=number == 0)
    for command in (["list"], ["list", "--tool", "search"], ["search", "tree"]):
        assert on_terminal(tmp_path, *command).out.splitlines()[-1] == "There are more; --limit 0 shows all."
    assert len(on_terminal(tmp_path, "list", "--limit", "0", lines=5).out.splitlines()) == 22
    assert on_terminal(tmp_path, "list", "--tag", "none").out == "There are no such conversations."


def test_a_rebuild_shows_a_bar_and_then_what_the_index_holds(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    with Terminal(tmp_path, "index", "--rebuild", columns=200) as terminal:
        ended = terminal.end()
    assert "reading the conversations" in terminal.output
    lines = shown(ended, tmp_path).splitlines()
    assert [line.split()[0] for line in lines] == ["where", "size", "holds", "compared"]


def test_no_color_means_no_colour(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="A *title*")
    with Terminal(tmp_path, "show", ID) as coloured, Terminal(tmp_path, "show", ID, NO_COLOR="1") as plain:
        coloured.end()
        plain.end()
    assert "\x1b[1" in coloured.output
    assert "\x1b[3" not in plain.output


def test_characters_that_command_a_terminal_are_not_passed_on(tmp_path: Path, agent: LoopbackAgent) -> None:
    evil = "Clear\x1b[2Jthe\x9bscreen\x07 \u202eor turn it around"
    put_conversation(tmp_path, ID, title=evil, messages=[{"role": "user", "content": evil}])
    for command in (
        ["list"],
        ["show", "last"],
        ["show", "last", "--raw"],
        ["show", "last", "--json"],
        ["search", "the"],
        ["search", "turn"],
        ["show", "2026"],
        ["show", "/turn"],
    ):
        with Terminal(tmp_path, *command) as terminal:
            terminal.end()
        assert "\x1b[2J" not in terminal.output
        assert "\x07" not in terminal.output
        assert "\u202e" not in terminal.output
