"""Word and EPUB as outlines, through converters that are loaded when the first such file is read."""

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import IO, cast
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from conversation_mcp.providers.local.converting import MAX_CHARS, TooMuchError, bounded
from conversation_mcp.providers.local.html_text import as_paragraphs, html
from conversation_mcp.providers.local.outline import BLANK, Outline

CONTAINER = "META-INF/container.xml"
PACKAGES = ".//{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
OPF = "{http://www.idpf.org/2007/opf}"


def docx(file: IO[bytes]) -> Outline:
    """Return the paragraphs under their headings."""
    import mammoth  # noqa: PLC0415 -- an extra that may not be installed

    with zipfile.ZipFile(file) as archive:
        if sum(item.file_size for item in archive.infolist() if item.filename.endswith(".xml")) > MAX_CHARS:
            raise TooMuchError
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
        as_paragraphs(Outline(bounded(lines), marks)), title=next((c.title for c in chapters if c.title), "")
    )


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
                raise TooMuchError
            yield name
