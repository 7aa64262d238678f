"""PDF, Word and EPUB as outlines, through converters that are loaded when the first such file is read."""

import logging
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from conversation_mcp.providers.local.html_text import as_paragraphs, html
from conversation_mcp.providers.local.outline import BLANK, NEWLINE, TEXT, Heading, Mark, Outline

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_CHARS = 32_000_000
CONTAINER = "META-INF/container.xml"
PACKAGES = ".//{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
OPF = "{http://www.idpf.org/2007/opf}"


class ConversionError(Exception):
    """The file is not what its name says, is protected, or holds too much."""


def pdf(file: IO[bytes]) -> Outline:
    """Return the text of each page, under the bookmarks that lead there."""
    from pypdf import PdfReader  # noqa: PLC0415 -- an extra that may not be installed

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of each oddity of each file
    reader = PdfReader(file)
    bookmarks = _bookmarks(reader)
    lines: list[str] = []
    marks: list[Mark] = []
    numbers: list[int] = []
    for number, page in enumerate(reader.pages, 1):
        headings = bookmarks.get(number, [])
        text = NEWLINE.split(page.extract_text())
        lines += [*(heading.text for heading in headings), *text, ""]
        marks += [*headings, *(TEXT if line.strip() else BLANK for line in text), BLANK]
        numbers += [number] * (len(lines) - len(numbers))
    title = reader.metadata.title if reader.metadata else None
    return Outline(_bounded(lines), marks, title=(title or "").strip(), numbers=numbers, unit="page")


def docx(file: IO[bytes]) -> Outline:
    """Return the paragraphs under their headings."""
    import mammoth  # noqa: PLC0415 -- an extra that may not be installed

    with zipfile.ZipFile(file) as archive:
        if sum(item.file_size for item in archive.infolist() if item.filename.endswith(".xml")) > MAX_CHARS:
            raise ConversionError
    file.seek(0)
    converted = cast("str", mammoth.convert_to_html(file).value)  # pyright: ignore[reportUnknownMemberType]
    return as_paragraphs(html(converted))


def epub(file: IO[bytes]) -> Outline:
    """Return the chapters in their order; they are HTML."""
    with zipfile.ZipFile(file) as archive:
        chapters = [html(archive.read(name).decode("utf-8", "replace")) for name in _spine(archive)]
    lines = list(chain.from_iterable((*chapter.lines, "") for chapter in chapters))
    marks = list(chain.from_iterable((*chapter.marks, BLANK) for chapter in chapters))
    return replace(
        as_paragraphs(Outline(_bounded(lines), marks)), title=next((c.title for c in chapters if c.title), "")
    )


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


def _spine(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the names of the chapters."""
    names = {item.filename: item.file_size for item in archive.infolist()}
    root = ET.fromstring(archive.read(CONTAINER)).find(PACKAGES)  # noqa: S314 -- expat bounds what entities expand to
    path = root.get("full-path", "") if root is not None else ""
    package = ET.fromstring(archive.read(path))  # noqa: S314 -- the same
    items = {item.get("id"): item.get("href", "") for item in package.iter(f"{OPF}item")}
    left = MAX_CHARS
    for reference in package.iter(f"{OPF}itemref"):
        href = unquote(items.get(reference.get("idref"), "").partition("#")[0])
        name = str(PurePosixPath(path).parent / href)
        if name in names:
            left -= names[name]
            if left < 0:
                raise ConversionError
            yield name


def _bounded(lines: list[str]) -> list[str]:
    if sum(map(len, lines)) > MAX_CHARS:
        raise ConversionError
    return lines
