"""A document as lines that know what they are: the common form into which every format is brought."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["line", "page", "paragraph", "row", "slide"]

NEWLINE = re.compile(r"\r\n|\n|\r")
BLANK, TEXT, CODE, MARKUP = "blank", "text", "code", "markup"


@dataclass(frozen=True)
class Heading:
    """A heading over what follows; one that `is_text` is part of what follows, as the first line of a function is.

    Without text it ends what stands under headings of its level and below.
    """

    level: int
    text: str
    is_text: bool = False


Mark = str | Heading


@dataclass(frozen=True)
class Outline:
    """Lines, what each of them is, and the number by which a reader finds it, if that is not its place among them."""

    lines: Sequence[str]
    marks: Sequence[Mark]
    title: str = ""
    numbers: Sequence[int] | None = None
    unit: Unit = "line"

    def number(self, place: int) -> int:
        """Return the number of the line, page or paragraph."""
        return place + 1 if self.numbers is None else self.numbers[place]
