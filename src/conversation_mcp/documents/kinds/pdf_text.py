"""PDF as an outline: the text of its pages, columns one after the other, with bookmarks as headings."""

import logging
from collections import Counter
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from conversation_mcp.documents.kinds.columns import HYPHENS, in_columns
from conversation_mcp.documents.kinds.conversion import NoTextError, bounded
from conversation_mcp.documents.kinds.outline import BLANK, NEWLINE, TEXT, Heading, Mark, Outline

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

SHOWING = frozenset({b"Tj", b"TJ", b"'", b'"'})
SAME_LINE, NEXT_LINES = 2.0, 30.0
WIDE_SHARE = 0.25
MIN_WIDE_LINES = 3
MAX_LOST_SHARE = 0.02


def pdf(file: IO[bytes]) -> Outline:
    """Return the text of each page.

    Raises:
        NoTextError: the pages are images.
    """
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns about every oddity in a file
    reader = PdfReader(file)
    bookmarks = _bookmarks(reader)
    lines: list[str] = []
    marks: list[Mark] = []
    numbers: list[int] = []
    for number, page in enumerate(reader.pages, 1):
        headings = bookmarks.get(number, [])
        text = [*NEWLINE.split("\n".join(_lines(page)).rstrip()), ""]
        if text[-2].endswith(HYPHENS):  # the word continues on the next page
            text.pop()
        lines += [*(heading.text for heading in headings), *text]
        marks += [*headings, *(TEXT if line.strip() else BLANK for line in text)]
        numbers += [number] * (len(lines) - len(numbers))
    if reader.pages and TEXT not in marks:
        raise NoTextError(len(reader.pages))
    title = reader.metadata.title if reader.metadata else None
    return Outline(bounded(lines), marks, title=_shown(title or "", lines), numbers=numbers, unit="page")


def _lines(page: "PageObject") -> Sequence[str]:
    """Return the lines in the order in which they were drawn, or by columns if they were drawn across columns."""
    pen = _Pen(float(page.mediabox.width))
    text = page.extract_text(visitor_operand_before=pen.before)
    lines = NEWLINE.split(text)
    if pen.wide_lines < MIN_WIDE_LINES:
        return lines
    laid_out = NEWLINE.split(page.extract_text(extraction_mode="layout"))
    columns = in_columns(laid_out)
    # The text by position lacks what is rotated.
    return columns if columns and _holds(columns, lines) else lines


class _Pen:
    """Follows the position of text, and counts lines that are drawn in pieces across much of the page."""

    def __init__(self, width: float) -> None:
        self.wide_lines = 0
        self._wide = width * WIDE_SHARE
        self._at: tuple[float, float] | None = None
        self._line_start = 0.0

    def before(self, operator: object, operands: object, outer: Sequence[float], matrix: Sequence[float]) -> None:
        """Record the position at which text is about to be shown."""
        del operands
        if operator not in SHOWING:
            return
        x = matrix[4] * outer[0] + matrix[5] * outer[2] + outer[4]
        y = matrix[4] * outer[1] + matrix[5] * outer[3] + outer[5]
        if self._at is None or abs(y - self._at[1]) > NEXT_LINES or x < self._at[0]:
            self._line_start = x
        elif x - self._line_start > self._wide and (abs(y - self._at[1]) < SAME_LINE or x - self._at[0] > self._wide):
            self.wide_lines += 1
            self._line_start = x
        self._at = x, y


def _holds(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether the lines have the same letters as the others, in any order."""
    own, wanted = (Counter("".join("".join(part).split())) for part in (lines, others))
    return (own - wanted).total() + (wanted - own).total() <= MAX_LOST_SHARE * wanted.total()


def _shown(title: str, lines: Sequence[str]) -> str:
    """Return the declared title of the file if its text contains it; many programs declare something else."""
    title = " ".join(title.split())
    return title if title and title.casefold() in " ".join(" ".join(lines).split()).casefold() else ""


def _bookmarks(reader: "PdfReader") -> dict[int, list[Heading]]:
    found: dict[int, list[Heading]] = {}

    def walk(outline: list[Any], level: int) -> None:
        for item in outline:
            if isinstance(item, list):
                walk(cast("list[Any]", item), level + 1)
                continue
            number = reader.get_destination_page_number(item)
            title = " ".join(str(item.title).split())
            if number is not None and title:
                found.setdefault(number + 1, []).append(Heading(level, title))

    walk(cast("list[Any]", reader.outline), 1)
    return found
