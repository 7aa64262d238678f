"""OpenDocument texts, tables and presentations as outlines."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO
from xml.etree import ElementTree as ET

from conversation_mcp.documents.kinds.archives import Archive, attribute, local_name
from conversation_mcp.documents.kinds.conversion import MAX_CHARS, ConversionError, TooMuchError
from conversation_mcp.documents.kinds.html_rows import BETWEEN
from conversation_mcp.documents.kinds.outline import BLANK, TEXT, Heading, Mark, Outline, Unit

CONTENT = "content.xml"
UNITS: dict[str, Unit] = {"text": "paragraph", "spreadsheet": "row", "presentation": "slide", "drawing": "page"}
UNSEEN = frozenset({"tracked-changes", "table-of-content", "annotation", "forms", "note-citation", "sequence-decls"})
PARAGRAPHS = frozenset({"p", "h"})
MAX_LEVEL = 6
MAX_REPEATED = 64


def open_document(file: IO[bytes]) -> Outline:
    """Return the paragraphs under their headings, the rows of sheets, or the slides.

    Raises:
        ConversionError: it is not one of these.
    """
    root = Archive(file).xml(CONTENT)
    body = next((element for element in root.iter() if local_name(element) == "body"), None)
    kinds = [child for child in (body if body is not None else ()) if local_name(child) in UNITS]
    if not kinds:
        raise ConversionError
    unit = UNITS[local_name(kinds[0])]
    reader = _OpenDocumentReader(unit)
    for kind in kinds:
        reader.read(kind)
    return Outline(reader.lines, reader.marks, numbers=reader.numbers, unit=unit)


@dataclass
class _OpenDocumentReader:
    unit: Unit
    lines: list[str] = field(default_factory=list[str])
    marks: list[Mark] = field(default_factory=list["Mark"])
    numbers: list[int] = field(default_factory=list[int])
    chars: int = 0
    number: int = 0
    """The number of the paragraph, row or slide."""

    def read(self, element: ET.Element) -> None:
        for child in element:
            name = local_name(child)
            if name in UNSEEN:
                continue
            if name in PARAGRAPHS:
                self._paragraph(child, name)
            elif name == "table":
                self._table(child)
            elif name == "page":
                self.number += 1
                title = _title(child)
                self._put(title, Heading(1, title))
                self.read(child)
            elif name != "notes" or self.unit == "slide":
                self.read(child)

    def _paragraph(self, element: ET.Element, name: str) -> None:
        text = _text(element)
        if not text:
            return
        level = attribute(element, "outline-level")
        self.number += self.unit == "paragraph"
        is_heading = name == "h" and self.unit == "paragraph"
        self._put(text, Heading(min(int(level) if level.isdecimal() else 1, MAX_LEVEL), text) if is_heading else TEXT)
        self._put("", BLANK)

    def _table(self, table: ET.Element) -> None:
        if self.unit != "row":
            for cells, _ in _rows(table):
                self.number += self.unit == "paragraph"
                self._put(BETWEEN.join(cells), TEXT)
            self._put("", BLANK)
            return
        self.number = 1
        name = attribute(table, "name")
        self._put(name, Heading(1, name))
        self.number = 0
        for cells, repeated in _rows(table):
            self.number += 1
            if any(cells):
                self._put(BETWEEN.join(cells), TEXT)
            self.number += repeated - 1

    def _put(self, text: str, mark: Mark) -> None:
        self.chars += len(text)
        if self.chars > MAX_CHARS:
            raise TooMuchError
        self.lines.append(text)
        self.marks.append(mark)
        self.numbers.append(max(1, self.number))


def _rows(table: ET.Element) -> Iterator[tuple[list[str], int]]:
    """Yield the texts of each row, and how often the row is repeated."""
    for child in table:
        name = local_name(child)
        if name == "table-row":
            yield list(_cells(child)), _repeated(child, "number-rows-repeated")
        elif name in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(child)


def _cells(row: ET.Element) -> Iterator[str]:
    texts: list[str] = []
    for cell in row:
        if local_name(cell) == "table-cell":
            text = " ".join(found for part in cell.iter() if local_name(part) in PARAGRAPHS and (found := _text(part)))
            texts += [text] * (min(_repeated(cell, "number-columns-repeated"), MAX_REPEATED) if text else 1)
    filled = [number for number, text in enumerate(texts) if text]
    yield from texts[filled[0] : filled[-1] + 1] if filled else ()


def _repeated(element: ET.Element, name: str) -> int:
    value = attribute(element, name)
    # A longer number is nonsense, and Python refuses to read one of thousands of digits.
    return int(value) if value.isdecimal() and value.isascii() and len(value) < len(str(MAX_CHARS)) else 1


def _title(page: ET.Element) -> str:
    frames = (frame for frame in page.iter() if attribute(frame, "class") == "title")
    return next(
        (text for frame in frames for part in frame.iter() if local_name(part) == "p" and (text := _text(part))), ""
    )


def _text(element: ET.Element) -> str:
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: ET.Element) -> Iterator[str]:
    """Yield the text of a paragraph, with that of attached boxes and notes set off by spaces."""
    yield element.text or ""
    for child in element:
        name = local_name(child)
        if name in {"s", "tab", "line-break"}:
            yield " "
        elif name in PARAGRAPHS:
            yield from (" ", *_pieces(child), " ")
        elif name not in UNSEEN:
            yield from _pieces(child)
        yield child.tail or ""
