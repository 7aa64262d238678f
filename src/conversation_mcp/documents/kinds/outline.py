"""Outlines: documents as lines of known kinds, the common form of all formats."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["line", "page", "paragraph", "row", "slide"]

NEWLINE = re.compile(r"\r\n|\n|\r")
BLANK, TEXT, CODE, MARKUP = "blank", "text", "code", "markup"


@dataclass(frozen=True)
class Heading:
    """A heading. If `is_text`, it is also part of the text below it, like the first line of a function.

    An empty heading ends the sections of its level and of deeper ones.
    """

    level: int
    text: str
    is_text: bool = False


Mark = str | Heading


@dataclass(frozen=True)
class Outline:
    """Lines, their kinds, and the numbers by which readers find them, if these are not simply counted."""

    lines: Sequence[str]
    marks: Sequence[Mark]
    title: str = ""
    numbers: Sequence[int] | None = None
    unit: Unit = "line"

    def number(self, place: int) -> int:
        """Return the number of the line, page or paragraph."""
        return place + 1 if self.numbers is None else self.numbers[place]
