"""RTF as an outline: its paragraphs, and rows of tables as lines."""

import re
from typing import IO, cast

from conversation_mcp.documents.kinds.conversion import ConversionError, bounded
from conversation_mcp.documents.kinds.html_rows import BETWEEN
from conversation_mcp.documents.kinds.html_text import as_paragraphs
from conversation_mcp.documents.kinds.outline import BLANK, NEWLINE, TEXT, Outline

BEGINNING = b"{\\rtf"
CODE_PAGE = re.compile(rb"\\ansicpg(\d{1,5})")
PICTURE = re.compile(r"(?:[0-9A-Fa-f]{2}\s*){256,}")
LINK = re.compile(r"\\fldinst(?=\{)")
BRACE = re.compile(r"[{}]")
MAX_FONTS_CHARS = 65_536


def rtf(file: IO[bytes]) -> Outline:
    """Return the paragraphs.

    Raises:
        ConversionError: it is not RTF, or its font table is not valid.
    """
    from striprtf import striprtf

    data = file.read()
    if not data.lstrip().startswith(BEGINNING):
        raise ConversionError
    source = PICTURE.sub("", _decoded(data))
    source = LINK.sub(r"\\fldinst ", source)  # else the converter searches for links in quadratic time
    _refuse_endless_fonts(source)
    text = cast("str", striprtf.rtf_to_text(source, errors="replace"))  # pyright: ignore[reportUnknownMemberType]
    lines = [_row(line) for line in NEWLINE.split(text)]
    return as_paragraphs(Outline(bounded(lines), [TEXT if line else BLANK for line in lines]))


def _decoded(data: bytes) -> str:
    """Return the source text: nearly always ASCII, else UTF-8 or in the code page that it names."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        found = CODE_PAGE.search(data)
        try:
            return data.decode(f"cp{found[1].decode()}" if found else "cp1252", "replace")
        except LookupError:
            return data.decode("cp1252", "replace")


def _refuse_endless_fonts(source: str) -> None:
    """Check that the font table ends soon, because the converter takes quadratic time for it."""
    start = source.find("\\fonttbl")
    if start < 0:
        return
    depth = 1
    for brace in BRACE.finditer(source, start, start + MAX_FONTS_CHARS):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return
    raise ConversionError


def _row(line: str) -> str:
    """Return a line without the bar with which the converter ends each cell of a table."""
    if line.endswith("|"):
        line = BETWEEN.join(line.rstrip("|").split("|"))
    return " ".join(line.split())
