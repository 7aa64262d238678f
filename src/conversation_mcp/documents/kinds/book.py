"""EPUB as an outline: the chapters of a book in reading order."""

from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath
from typing import IO
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from conversation_mcp.documents.charsets import decoded
from conversation_mcp.documents.kinds.archives import Archive, attribute, local_name
from conversation_mcp.documents.kinds.conversion import ConversionError, bounded
from conversation_mcp.documents.kinds.html_text import as_paragraphs, html
from conversation_mcp.documents.kinds.outline import BLANK, Outline

CONTAINER = "META-INF/container.xml"
CHAPTERS = (".xhtml", ".html", ".htm")


def epub(file: IO[bytes]) -> Outline:
    """Return the chapters, which are HTML.

    Raises:
        ConversionError: there are none.
    """
    archive = Archive(file)
    path, package = _package(archive)
    names = list(dict.fromkeys(_spine(archive, path, package))) if package is not None else []
    # A book whose reading order is broken still has chapters.
    names = names or sorted(name for name in archive.names if name.lower().endswith(CHAPTERS))
    if not names:
        raise ConversionError
    chapters = [html(decoded(archive.read(name), PurePosixPath(name).suffix.lower()) or "") for name in names]
    lines = list(chain.from_iterable((*chapter.lines, "") for chapter in chapters))
    marks = list(chain.from_iterable((*chapter.marks, BLANK) for chapter in chapters))
    return as_paragraphs(Outline(bounded(lines), marks, title=_title(package)))


def _package(archive: Archive) -> tuple[str, ET.Element | None]:
    """Return the package document, from the path that the book declares or else by its suffix."""
    paths = [name for name in archive.names if name.lower().endswith(".opf")]
    try:
        container = archive.xml(CONTAINER)
        paths = [attribute(part, "full-path") for part in container.iter() if local_name(part) == "rootfile"] + paths
    except (KeyError, ET.ParseError):
        pass
    for path in paths:
        try:
            return path, archive.xml(path)
        except (KeyError, ET.ParseError):
            continue
    return "", None


def _spine(archive: Archive, path: str, package: ET.Element) -> Iterator[str]:
    """Yield the names of the chapters."""
    parts = list(package.iter())
    items = {part.get("id"): part.get("href", "") for part in parts if local_name(part) == "item"}
    for part in parts:
        if local_name(part) == "itemref":
            # The references are addresses, in which a space is `%20`.
            href = unquote(items.get(part.get("idref"), "").partition("#")[0])
            name = str(PurePosixPath(path).parent / href)
            if name in archive.names:
                yield name


def _title(package: ET.Element | None) -> str:
    parts = package.iter() if package is not None else ()
    return next(
        (" ".join(part.text.split()) for part in parts if local_name(part).lower() == "title" and part.text), ""
    )
