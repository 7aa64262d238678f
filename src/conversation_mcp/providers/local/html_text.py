"""HTML as an outline: its text without markup, with the lines of the file that it stands in."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from conversation_mcp.providers.local.outline import BLANK, CODE, TEXT, Heading, Mark, Outline

UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "nav", "footer", "head"})
BREAKING = frozenset(
    re.findall(
        r"\w+",
        """
        address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure
        form h1 h2 h3 h4 h5 h6 header hr html legend li main ol option p pre section select summary table tbody tfoot
        thead tr ul
        """,
    )
)
CELLS = frozenset({"td", "th"})
HEADING = re.compile(r"h[1-6]")


def html(text: str) -> Outline:
    """Return the text that a reader sees, a line for each block of it."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_line()
    return Outline(reader.lines, reader.marks, title=" ".join(reader.title.split()), numbers=reader.numbers)


def as_paragraphs(outline: Outline) -> Outline:
    """Return the outline with paragraphs counted, for files whose lines nobody sees."""
    count = 0
    numbers: list[int] = []
    for mark in outline.marks:
        count += mark != BLANK
        numbers.append(max(1, count))
    return replace(outline, numbers=numbers, unit="paragraph")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.marks: list[Mark] = []
        self.numbers: list[int] = []
        self.title = ""
        self._unseen: list[str] = []
        self._in_title = False
        self._preformatted = 0
        self._heading = 0
        self._pieces: list[str] = []
        self._line = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "title":
            self._in_title = True
        elif tag in UNSEEN:
            self._unseen.append(tag)
        elif tag == "body":
            self._unseen.clear()
        if tag in BREAKING:
            self.end_line()
        if tag in CELLS and self._pieces:
            self._pieces.append(" | ")
        self._preformatted += tag == "pre"
        if HEADING.fullmatch(tag):
            self._heading = int(tag[1])

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        if tag in BREAKING:
            self.end_line()
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)
        if HEADING.fullmatch(tag):
            self._heading = 0

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._unseen:
            first, *others = data.split("\n") if self._preformatted else [data]
            self._add(first, self.getpos()[0])
            for number, line in enumerate(others, self.getpos()[0] + 1):
                self.end_line()
                self._add(line, number)

    def end_line(self) -> None:
        """Finish the line that was gathered; what follows a block of text is a paragraph of its own."""
        pieces, self._pieces = self._pieces, []
        text = "".join(pieces)
        text = text.rstrip() if self._preformatted else " ".join(text.split())
        if not text.strip():
            self._put("", BLANK)
        elif self._heading:
            self._put(text, Heading(self._heading, " ".join(text.split())))
        else:
            self._put(text, CODE if self._preformatted else TEXT)

    def _add(self, text: str, number: int) -> None:
        if not self._pieces:
            skipped = 0 if self._preformatted else text[: len(text) - len(text.lstrip())].count("\n")
            self._line = number + skipped
        if text.strip() or self._pieces or (self._preformatted and text):
            self._pieces.append(text)

    def _put(self, text: str, mark: Mark) -> None:
        if mark == BLANK and self.marks[-1:] in ([], [BLANK]):
            return
        self.lines.append(text)
        self.marks.append(mark)
        self.numbers.append(self._line)
