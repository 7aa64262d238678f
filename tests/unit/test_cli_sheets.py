"""How an answer is shown while it is written, on a terminal and in a pipe."""

from collections.abc import Iterable
from io import StringIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from tests.fixtures.cli import screen_of

from conversation_mcp.cli.output.rendered import blocks_of, lines_of
from conversation_mcp.cli.output.sheets import PlainSheet, RenderedSheet

BLOCKS = st.sampled_from(
    (
        "Some *words* and `code` [1].",
        "two lines\nof **one** paragraph",
        "# A heading",
        "Under\n---",
        "- one\n- two\n  - three",
        "1. first\n\n2. second",
        "> quoted\n> twice",
        "```py\nx = 1\n\ny = 2\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "***",
        "***bold*** and #tag",
        "Vec<T> <b>x</b>\n<div>\nwords\n</div>",
        "[1]: https://example.org/1",
        "![a plot](https://example.org/plot.png)",
        "a long line " * 20,
    )
)
TEXTS = st.lists(st.tuples(BLOCKS, st.sampled_from(("\n", "\n\n"))), max_size=8).map(
    lambda parts: "".join(block + end for block, end in parts).strip()
)


def screen(height: int = 500, *, terminal: bool = True, **environment: str) -> Console:
    return Console(
        file=StringIO(),
        width=60,
        height=height,
        force_terminal=terminal,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={"TERM": "xterm-256color", **environment},
    )


def rendered(text: str, height: int = 500) -> str:
    return on_screen("".join(f"{line}\n" for line in lines_of(blocks_of(text), screen(height))))


def on_screen(output: str) -> str:
    return screen_of(output.replace("\n", "\r\n"))


@given(text=TEXTS, cuts=st.lists(st.integers(0, 400)))
def test_a_text_in_any_pieces_ends_as_the_same_text_at_once(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    with pytest.MonkeyPatch.context() as patch:
        out = StringIO()
        patch.setattr("sys.stdout", out)
        sheet = RenderedSheet(screen())
        for start, end in pairwise(edges):
            sheet.add(text[start:end])
            assert on_screen(out.getvalue()) == rendered(text[:end].lstrip())
        sheet.end(text)
        sheet.end()
    assert on_screen(out.getvalue()) == rendered(text)


def drawn(pieces: Iterable[tuple[str, bool]], end: str | None, page: Console) -> str:
    with pytest.MonkeyPatch.context() as patch:
        out = StringIO()
        patch.setattr("sys.stdout", out)
        sheet = RenderedSheet(page)
        for piece, replaces in pieces:
            sheet.add(piece, replaces=replaces)
        sheet.end(end)
    return out.getvalue()


@given(before=TEXTS, text=TEXTS)
def test_a_text_that_replaces_another_leaves_nothing_of_it_on_the_screen(before: str, text: str) -> None:
    assert on_screen(drawn([(before, False), (text, True)], text, screen())) == rendered(text)
    assert on_screen(drawn([(before, False)], text, screen())) == rendered(text)


def test_what_has_left_the_screen_is_not_taken_back_but_corrected() -> None:
    before = "\n\n".join(f"line {number}" for number in range(9))
    seen = on_screen(drawn([(f"{before}\n\nopen\n\nwrong", False)], "right", screen(height=6)))
    assert seen == f"{before}\n\nThe final text:\n\nright"


def test_the_beginning_that_stays_true_is_not_printed_again() -> None:
    before = "\n\n".join(f"line {number}" for number in range(9))
    seen = on_screen(drawn([(f"{before}\n\nRelated", False)], before, screen(height=6)))
    assert seen == before


def test_what_follows_the_answer_and_has_left_the_screen_may_stay() -> None:
    before = "\n\n".join(f"line {number}" for number in range(9))
    text = f"{before}\n\nRelated\n\nmore\n\nlast"
    assert on_screen(drawn([(text, False)], before, screen(height=4))) == rendered(text)


def test_of_an_open_block_no_more_is_drawn_than_the_screen_holds() -> None:
    text = "\n".join(f"- {number}" for number in range(30))
    with pytest.MonkeyPatch.context() as patch:
        out = StringIO()
        patch.setattr("sys.stdout", out)
        sheet = RenderedSheet(screen(height=10))
        sheet.add(text)
        assert on_screen(out.getvalue()) == "\n".join(f" • {number}" for number in range(21, 30))
        sheet.end()
    assert on_screen(out.getvalue()) == rendered(text)


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_move_its_cursor_gets_each_block_once(term: str) -> None:
    page = screen(TERM=term)
    assert drawn([("one\n\ntwo", False), (" *words*\n\nthree", False)], None, page) == "one\n\ntwo words\n\nthree\n"


def plain(pieces: Iterable[tuple[str, bool]], end: str | None) -> str:
    with pytest.MonkeyPatch.context() as patch:
        out = StringIO()
        patch.setattr("sys.stdout", out)
        sheet = PlainSheet()
        for piece, replaces in pieces:
            sheet.add(piece, replaces=replaces)
        sheet.end(end)
    return out.getvalue()


@pytest.mark.parametrize(
    ("pieces", "end", "expected"),
    [
        ([], "all at once", "all at once\n"),
        ([("one ", False), ("**two**", False)], "one **two**", "one **two**\n"),
        ([("one ", False)], "one two", "one two\n"),
        ([("one", False), ("one two", True)], "one two", "one two\n"),
        ([("one", False), ("three", True), (" four", False)], "three four", "one\nThe final text:\n\nthree four\n"),
        ([("one two", False), ("one", True)], "one", "one two\nThe final text:\n\none\n"),
        ([("\none\n\nRelated\n", False)], "one", "\none\n\nRelated\n"),
        ([("one", False)], None, "one\n"),
        ([], None, ""),
        ([], "", ""),
    ],
)
def test_a_pipe_gets_each_word_once_and_a_correction_where_words_were_replaced(
    pieces: list[tuple[str, bool]], end: str | None, expected: str
) -> None:
    assert plain(pieces, end) == expected


def test_characters_that_command_a_terminal_are_not_written_to_it() -> None:
    evil = "clear\x1b[2Jthe\x9bscreen"
    assert drawn([("", False), (evil, False)], evil, screen(TERM="dumb")) == "clear[2Jthescreen\n"
