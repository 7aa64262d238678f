"""Presentations as outlines: the text of each slide under its title, and the notes of the speaker."""

import re
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree as ET

from conversation_mcp.documents.kinds.archives import RELATION_ID, Archive, attribute, local_name
from conversation_mcp.documents.kinds.conversion import ConversionError, bounded
from conversation_mcp.documents.kinds.html_rows import BETWEEN
from conversation_mcp.documents.kinds.outline import BLANK, TEXT, Heading, Mark, Outline

PRESENTATION = "ppt/presentation.xml"
SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml")
TITLES = frozenset({"title", "ctrTitle"})
FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Placeholders outside of a slide's content, such as its number and footer."""
NOTES, DIAGRAM = "/notesSlides/", "/diagrams/data"


def pptx(file: IO[bytes]) -> Outline:
    """Return the slides in the order of the presentation.

    Raises:
        ConversionError: there are none.
    """
    archive = Archive(file)
    lines: list[str] = []
    marks: list[Mark] = []
    numbers: list[int] = []
    for number, name in enumerate(_slides(archive), 1):
        title, texts = _texts(archive, name)
        lines += [title, *texts, ""]
        marks += [Heading(1, title), *[TEXT] * len(texts), BLANK]
        numbers += [number] * (len(lines) - len(numbers))
    if not lines:
        raise ConversionError
    return Outline(bounded(lines), marks, numbers=numbers, unit="slide")


def _slides(archive: Archive) -> list[str]:
    """Return the names of the slides in the order of the presentation, or by number if that order is missing."""
    try:
        listed = [
            element.get(RELATION_ID, "")
            for element in archive.xml(PRESENTATION).iter()
            if local_name(element) == "sldId"
        ]
    except (KeyError, ET.ParseError):
        listed = []
    targets = archive.targets(PRESENTATION)
    ordered = [targets[slide] for slide in listed if targets.get(slide) in archive.names]
    numbered = sorted((int(found[1]), name) for name in archive.names if (found := SLIDE.fullmatch(name)))
    return ordered + [name for _, name in numbered if name not in ordered]


def _texts(archive: Archive, name: str) -> tuple[str, list[str]]:
    """Return the title of a slide, and its other texts."""
    found = list(_shapes(archive.xml(name)))
    title = next((text for kind, text in found if kind in TITLES), "")
    texts = [text for kind, text in found if kind not in TITLES]
    texts += [text for kind, text in found if kind in TITLES and text != title]
    for target in archive.targets(name).values():
        if target in archive.names and (NOTES in f"/{target}" or DIAGRAM in f"/{target}"):
            texts += [text for _, text in _shapes(archive.xml(target)) if text != title]
    return title, texts


def _shapes(element: ET.Element, kind: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paragraphs and the rows of tables, each with the kind of its placeholder."""
    for child in element:
        name = local_name(child)
        if name == "Fallback":  # repeats the content of the choice before it
            continue
        if name == "sp":
            places = (attribute(place, "type") for place in child.iter() if local_name(place) == "ph")
            inside = next(places, "")
            yield from () if inside in FURNITURE else _shapes(child, inside)
        elif name == "tr":
            cells = [" ".join(text for _, text in _shapes(cell)) for cell in child if local_name(cell) == "tc"]
            if any(cells):
                yield kind, BETWEEN.join(cells)
        elif name == "p":
            if text := " ".join("".join(_runs(child)).split()):
                yield kind, text
        else:
            yield from _shapes(child, kind)


def _runs(paragraph: ET.Element) -> Iterator[str]:
    for element in paragraph.iter():
        name = local_name(element)
        if name == "t":
            yield element.text or ""
        elif name in {"br", "tab"}:
            yield " "
