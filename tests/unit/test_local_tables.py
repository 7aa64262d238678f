"""Tables in pages and in Word files: a row is a line, whatever stands in its cells."""

from pathlib import Path
from time import process_time

import pytest
from tests.fixtures.documents import answer_of, local, written
from tests.fixtures.office import docx_of, word_table

from conversation_mcp.documents.kinds.html_text import html
from conversation_mcp.documents.kinds.outline import Heading


def lines_of(page: str) -> list[str]:
    return [line for line in html(page).lines if line]


def headings_of(page: str) -> list[str]:
    return [mark.text for mark in html(page).marks if isinstance(mark, Heading)]


def rows_of(*rows: str) -> str:
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        (rows_of("<td><p>Item</p></td><td><p>Deposit</p></td>", "<td><div>Flat</div></td><td>2700 <b>francs</b></td>"), ["Item | Deposit", "Flat | 2700 francs"]),
        (rows_of("<td>Flat</td><td><ul><li>2700</li><li>francs</li></ul></td>"), ["Flat | 2700 francs"]),
        (rows_of("<td>Flat</td><td>2700<br>francs</td>"), ["Flat | 2700 francs"]),
        (rows_of("<th><h3>Item</h3></th><th><h3>Deposit</h3></th>"), ["Item | Deposit"]),
        (rows_of("<td>Flat</td><td></td><td>2700</td><td> </td>"), ["Flat |  | 2700"]),
        (rows_of("<th colspan=2>Price</th><th>Note</th>", "<td>net</td><td>gross</td><td>x</td>"), ["Price | Note", "net | gross | x"]),
        (rows_of("<td rowspan=2>Flat</td><td>rent</td><td>900</td>", "<td>deposit</td><td>2700</td>", "<td>Shed</td><td>rent</td><td>9</td>"), ["Flat | rent | 900", "Flat | deposit | 2700", "Shed | rent | 9"]),
        ("<table><caption>Prices</caption><thead><tr><th>a<th>b<tbody><tr><td>1<td>2</table>end", ["Prices", "a | b", "1 | 2", "end"]),
        (rows_of(f"<td>Outer{rows_of('<td>a</td><td><p>b</p></td>')}</td><td>2700</td>"), ["Outer | 2700", "a | b"]),
        (rows_of(f"<td>{rows_of('<td>a</td><td>b</td>', '<td>c</td><td>d</td>')}</td>"), ["a | b", "c | d"]),
        ("<td>x</td><td>y</td><p>z", ["x | y", "z"]),
        ("<table><tr><td>a</td><td>b", ["a | b"]),
    ],
)  # fmt: skip
def test_a_row_is_a_line(page: str, lines: list[str]) -> None:
    assert lines_of(page) == lines


def test_a_table_that_lays_out_a_page_keeps_its_headings_and_paragraphs() -> None:
    page = rows_of("<td><a>Home</a></td><td><h1>Boiler</h1><p>Holds forty litres.</p><p>Never more.</p></td>")
    long = rows_of(f"<td>Home</td><td><p>{'Water. ' * 100}</p><p>{'Steam. ' * 100}</p></td>")

    assert headings_of(page) == ["Boiler"]
    assert lines_of(page) == ["Home", "Boiler", "Holds forty litres.", "Never more."]
    assert len(lines_of(long)) == 3


def test_a_listing_beside_its_line_numbers_stays_a_listing() -> None:
    assert lines_of(rows_of("<td><pre>1\n2</pre></td><td><pre>x = 1\ny = 2</pre></td>")) == ["1", "2", "x = 1", "y = 2"]


def test_rows_stand_where_they_stand_in_the_file() -> None:
    outline = html("<table>\n<tr><td>\n<p>a</p></td>\n<td>b</td></tr>\n<tr><td>c</td><td>d</td></tr></table>")

    assert [(line, number) for line, number in zip(outline.lines, outline.numbers or (), strict=True) if line] == [
        ("a | b", 3),
        ("c | d", 5),
    ]


def test_spans_that_lie_cost_nothing() -> None:
    cells = "<td rowspan=99999999 colspan=99999999>x</td>" * 500
    lines = lines_of(f"<table><tr>{cells}</tr>{'<tr><td>a</td><td>b</td></tr>' * 2_000}</table>")

    assert len(lines) == 500 + 2_000  # a row of 500 cells is too long for a line
    assert sum(map(len, lines)) < 200_000


def test_tables_in_tables_without_end_are_read() -> None:
    assert lines_of("<table>" * 5_000 + "<tr><td>a</td><td>b</td></tr>") == ["a | b"]
    assert lines_of("<table><tr><td>" * 2_000 + "a</td><td>b") == ["a | b"]


def test_a_page_whose_head_or_menu_is_never_closed_is_read() -> None:
    page = '<head><title>T</title><meta name="description" content="no text"><h1>Boiler</h1><p>Forty litres.'

    assert html(page).title == "T"
    assert lines_of(page) == ["Boiler", "Forty litres."]
    assert lines_of("<nav><p>Forty litres.") == ["Forty litres."]
    assert lines_of("<html><head><title>T</title>Forty litres.") == ["Forty litres."]


@pytest.mark.parametrize("opened", ["<a b", "<!--", "<!", "<![if", "<?", "<nav>" * 3 + "<footer></footer>" * 3])
def test_a_page_full_of_what_is_never_ended_is_read_at_once(opened: str) -> None:
    page = "<p>Forty litres.</p>" + opened * 10_000

    began = process_time()
    lines = lines_of(page)
    assert process_time() - began < 5  # a fraction of it; quadratic, it would be many times that
    assert "Forty litres." in lines


def test_the_title_of_a_picture_is_not_that_of_the_page() -> None:
    assert html("<title>Tea</title><svg><title>Icon</title></svg><p>x").title == "Tea"
    assert html("<svg><title>Icon</title></svg><p>x").title == ""


async def test_rows_of_a_word_table_are_lines(tmp_path: Path) -> None:
    table = word_table([["Item", "Deposit"], ["Flat", "2700 francs"]])
    provider = local(
        written(tmp_path, {"lease.docx": docx_of(("Heading1", "Lease"), ("", "The rent is due."), more=table)})
    )
    answer = await answer_of(provider, "deposit of the flat")

    assert "> Item | Deposit\n>\n> Flat | 2700 francs" in answer.content
