from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversation_mcp.documents.kinds.markdown import markdown
from conversation_mcp.documents.kinds.outline import NEWLINE
from conversation_mcp.documents.passages import MAX_PASSAGE_CHARS, Passage
from conversation_mcp.documents.passages import cut as cut_outline

PATH = Path("/docs/a.md")


def cut(text: str, path: Path) -> list[Passage]:
    return cut_outline(markdown(text), path)


def shown(text: str) -> list[tuple[str, int, int, str]]:
    return [(passage.heading, passage.start_line, passage.end_line, passage.text) for passage in cut(text, PATH)]


def test_passages_carry_the_headings_above_them() -> None:
    text = "Before.\n\n# One\n\nA.\n\n## Two ##\nB.\n\nThree\n=====\n\nC.\n\nFour\n---\nD.\n#### C#\nE.\n"

    assert shown(text) == [
        ("", 1, 1, "Before."),
        ("One", 5, 5, "A."),
        ("One > Two", 8, 8, "B."),
        ("Three", 13, 13, "C."),
        ("Three > Four", 17, 17, "D."),
        ("Three > Four > C#", 19, 19, "E."),
    ]


def test_the_title_is_the_first_heading_or_the_name_of_the_file() -> None:
    assert {passage.title for passage in cut("Intro\n\n## First\n\nText\n\n# Second\n\nText", PATH)} == {"First"}
    assert {passage.title for passage in cut("Text", PATH)} == {"a.md"}
    assert {passage.title for passage in cut("#\n\nText", PATH)} == {"a.md"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```sh\n# no heading\n\nTitle\n---\n```\nafter", id="backticks"),
        pytest.param("~~~~\n# no heading\n~~~\n```\n# neither\n~~~~", id="tildes, longer"),
        pytest.param("- item\n  ```\n# no heading\n  ```", id="within a list"),
        pytest.param("```\n# no heading\n\nnever closed", id="never closed"),
        pytest.param("---\ntitle: no heading\n---\n", id="front matter"),
        pytest.param("#hashtag\n\n    # indented\n\n####### seven", id="no ATX heading"),
        pytest.param(
            "- item\n---\n\n| a |\n---\n\n> quote\n---\n\n1. one\n---", id="rules below lists, tables, quotes"
        ),
        pytest.param("two lines\nof text\n---\n\n---\n\n***", id="rules below paragraphs"),
    ],
)
def test_what_only_looks_like_a_heading_is_text(text: str) -> None:
    lines = text.rstrip("\n").count("\n") + 1

    assert shown(text) == [("", 1, lines, text.rstrip("\n"))]


def test_a_heading_may_have_a_line_above_it_as_well() -> None:
    assert shown("=====\nTitle\n=====\n\nText") == [("Title", 5, 5, "Text")]


def test_a_heading_with_nothing_below_it_can_still_be_found() -> None:
    text = "# One\n## Two\n## Three\n\nText.\n\n## Four\n"

    assert shown(text) == [
        ("One > Two", 2, 2, "## Two"),
        ("One > Three", 5, 5, "Text."),
        ("One > Four", 7, 7, "## Four"),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_editors_count_them(newline: str) -> None:
    text = newline.join(["# T", "", "a\u2028b\x0cc\x85d", "e"])

    assert shown(text) == [("T", 3, 4, "a\u2028b\x0cc\x85d\ne")]


def test_short_paragraphs_are_joined_and_long_ones_stand_alone() -> None:
    paragraph = "word " * 100
    text = f"{paragraph}\n\n{paragraph}\n\n{paragraph}\n"

    assert [(start, end) for _, start, end, _ in shown(text)] == [(1, 3), (5, 5)]


def test_a_long_paragraph_is_cut_at_its_lines_and_a_long_line_at_its_sentences() -> None:
    lines = "\n".join(["x" * 500] * 5)
    sentences = "This is one sentence of some. " * 60
    chinese = "这是一句话。" * 400
    spaces = "a" + " " * 5_000 + "b"
    unbroken = "x" * 3_000

    assert [(start, end) for _, start, end, _ in shown(lines)] == [(1, 2), (3, 4), (5, 5)]
    assert all(text.endswith(".") for *_, text in shown(sentences))
    assert all(text.endswith("。") for *_, text in shown(chinese))
    assert [text.strip() for *_, text in shown(spaces)] == ["a", "b"]
    assert [len(text) for *_, text in shown(unbroken)] == [1_200, 1_200, 600]


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["# One", "## Two", "Title", "===", "---", "```", "~~~", "", " ", "- item", "    code", "#"])
        | st.text(max_size=60)
        | st.integers(1, 400).map(lambda count: "word. " * count)
        | st.integers(1, 3_000).map(lambda count: "字" * count),
        max_size=30,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_the_lines_that_a_passage_names_contain_it_and_nothing_is_lost(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    passages = cut(text, PATH)
    real = NEWLINE.split(text)

    for passage in passages:
        assert passage.text in "\n".join(real[passage.start_line - 1 : passage.end_line])
        assert 0 < len(passage.text) <= MAX_PASSAGE_CHARS
        assert passage.text.strip()
    assert passages == sorted(passages, key=lambda passage: (passage.start_line, passage.end_line))
    kept = squeezed("".join(heading for heading in headings(passages)) + "".join(p.text for p in passages))
    assert all(squeezed(line) in kept for line in real if squeezed(line))


def headings(passages: list[Passage]) -> list[str]:
    return [heading for passage in passages for heading in passage.headings]


def squeezed(text: str) -> str:
    """Return the text without white space and what marks headings."""
    return "".join(char for char in text if not char.isspace() and char not in "#=-")
