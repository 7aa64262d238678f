"""What a conversation is called."""

from collections.abc import Iterable

from conversation_mcp.text import shorten, storable

TITLE_CHARS = 80
READ_CHARS = 1000
UNTITLED = "(empty)"
CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")


def title_of(title: str | None, questions: Iterable[str]) -> str:
    """Return the title that was set, else the first question up to a word that fits on a line."""
    for text in (title or "", *questions):
        if line := shorten(storable(text[:READ_CHARS]).translate(CONTROLS), TITLE_CHARS):
            return line
    return UNTITLED
