"""Pieces of Markdown."""

from collections.abc import Iterable, Sequence

MADE_BY = "This page is made from the code by `make docs`. Change the code, not the page."


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar in a cell does not end it."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in (heads, *rows)]
    return "\n".join((lines[0], "|" + "---|" * len(heads), *lines[1:]))


def document(*paragraphs: str) -> str:
    """Return the paragraphs as a file, without the empty ones."""
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def code(text: object) -> str:
    """Return the text as code."""
    return f"`{text}`"
