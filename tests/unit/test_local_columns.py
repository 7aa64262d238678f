"""PDF pages in columns, tables that look much the same, words that were divided at the end of a line, and titles."""

from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path

import pytest
from tests.fixtures.documents import answer_of, local, written
from tests.fixtures.office import drawn_pdf_of, pdf_of

from conversation_mcp.documents.kinds.columns import in_columns

COUNCIL = """The council met in May and agreed
that the bridge shall be closed for
lorries above twelve tonnes until the
repair of the northern bearing is done.""".splitlines()
POOL = """Swimming lessons start in June; the
pool opens at seven and closes at
nine in the evening except Mondays,
when the water is being cleaned.""".splitlines()
KETTLE = """Kettles are descaled twice a year
with citric acid and plenty of
water, never with vinegar, by
whoever used them last.""".splitlines()
ROWS = [("Single room, no bath", "Ninety francs a night"), ("Double room, with bath", "Hundred francs a night"), ("Suite with a balcony", "Two hundred francs a night")]  # fmt: skip


def across(*columns: Sequence[str], shift: float = 0.0, width: float = 260.0) -> list[tuple[float, float, str]]:
    """Return the lines of columns as they are drawn line by line; `shift` puts each column lower than the one before."""
    return [
        (60 + width * place, 700 - 14 * row - shift * place, text)
        for row, texts in enumerate(zip(*columns, strict=True))
        for place, text in enumerate(texts)
    ]


async def lines_of(folder: Path, data: bytes, question: str) -> list[str]:
    answer = await answer_of(local(written(folder, {"a.pdf": data})), question)
    return [line[2:] for line in answer.content.splitlines() if line.startswith("> ")]


@pytest.mark.parametrize("in_one_go", [False, True])
@pytest.mark.parametrize("shift", [0.0, 6.0])
async def test_columns_that_were_drawn_line_by_line_come_one_after_the_other(
    tmp_path: Path, shift: float, in_one_go: bool
) -> None:
    data = drawn_pdf_of(across(COUNCIL, POOL, shift=shift), in_one_go=in_one_go)

    assert await lines_of(tmp_path, data, "bridge") == [*COUNCIL, *POOL]


async def test_three_columns_below_a_heading_over_all_of_them(tmp_path: Path) -> None:
    heading = (
        60.0,
        740.0,
        "Minutes of the meeting of the council in the town hall on the third day of the month of May",
    )
    data = drawn_pdf_of([heading, *across(COUNCIL, POOL, KETTLE, width=235)])

    assert await lines_of(tmp_path, data, "bridge") == [heading[2], *COUNCIL, *POOL, *KETTLE]


async def test_a_column_may_be_longer_than_the_other(tmp_path: Path) -> None:
    drawn = [text for text in across([*COUNCIL, "Nobody was against it."], [*POOL, ""]) if text[2]]

    assert await lines_of(tmp_path, drawn_pdf_of(drawn), "bridge") == [*COUNCIL, "Nobody was against it.", *POOL]


@pytest.mark.parametrize("in_one_go", [False, True])
async def test_a_table_stays_row_by_row(tmp_path: Path, in_one_go: bool) -> None:
    data = drawn_pdf_of(across(*map(list, zip(*ROWS, strict=True))), in_one_go=in_one_go)
    lines = await lines_of(tmp_path, data, "room")

    assert " ".join(" ".join(lines).split()) == " ".join(chain.from_iterable(ROWS))


async def test_columns_that_were_drawn_one_after_the_other_stay_so(tmp_path: Path) -> None:
    drawn = across(COUNCIL, POOL)
    data = drawn_pdf_of(drawn[::2] + drawn[1::2])

    assert await lines_of(tmp_path, data, "bridge") == [*COUNCIL, *POOL]


def test_text_in_one_column_has_none() -> None:
    assert in_columns([]) is None
    assert in_columns(COUNCIL) is None
    assert in_columns([f"{one}  {two}" for one, two in pairwise(COUNCIL)]) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The argument is only under-\nstandable when one knows it.", "understandable"),
        ("The argument is only under-  \r\n    standable.", "understandable"),
        ("only under\u00ad\nstandable", "understandable"),
        ("only under\u2010\nstandable", "understandable"),
        ("> only under-\n> standable", "understandable"),
        ("Das Überset-\nzungsbüro", "Übersetzungsbüro"),
        ("объ-\nём", "объём"),
        ("a well-\nknown fact", "well-known"),
        ("a well-\nknown fact", "known"),
    ],
)
async def test_a_word_that_is_divided_at_the_end_of_a_line_is_found(tmp_path: Path, text: str, word: str) -> None:
    answer = await answer_of(local(written(tmp_path, {"book.txt": text})), word)

    assert len(answer.sources) == 1
    assert "No passage" not in answer.content


async def test_a_divided_word_is_found_in_a_pdf(tmp_path: Path) -> None:
    data = drawn_pdf_of([(60, 700, "The argument is only under-"), (60, 686, "standable when one knows the con-"), (60, 672, "text of it.")])  # fmt: skip

    assert len(await lines_of(tmp_path, data, "understandable context")) == 3


async def test_a_word_that_goes_on_in_the_next_column_or_overleaf_is_found(tmp_path: Path) -> None:
    council = [*COUNCIL[:3], "repair of the northern bear-"]
    pool = ["ing is done. In June the swimming", "pool opens at seven and closes at", "nine in the evening except Mondays,", "when the pool's water is under-"]  # fmt: skip
    overleaf = [
        (60.0, 700.0 - 14 * row, text) for row, text in enumerate(["going a test.", *["And so on and on."] * 40])
    ]
    data = drawn_pdf_of(across(council, pool), overleaf)

    assert await lines_of(tmp_path, data, "bearing")
    assert await lines_of(tmp_path, data, "undergoing")


@pytest.mark.parametrize(("title", "expected"), [("untitled", "a.pdf"), ("Microsoft Word - x.doc", "a.pdf"), ("Kettle  guide", "Kettle guide")])  # fmt: skip
async def test_a_pdf_has_the_title_that_it_shows(tmp_path: Path, title: str, expected: str) -> None:
    answer = await answer_of(local(written(tmp_path, {"a.pdf": pdf_of("The kettle guide.", title=title)})), "kettle")

    assert [source.title for source in answer.sources] == [expected]


async def test_scanned_pages_are_said_to_be_unread(tmp_path: Path) -> None:
    answer = await answer_of(local(written(tmp_path, {"a.pdf": pdf_of("", ""), "b.md": "Tea."})), "boiler")

    assert answer.notices == ("Some of the named files were not read: 1 scanned or otherwise without text.",)
