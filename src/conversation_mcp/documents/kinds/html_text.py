"""HTML as an outline: its text without markup, with the line numbers of the file."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from conversation_mcp.documents.kinds.html_rows import Block, Rows
from conversation_mcp.documents.kinds.outline import BLANK, CODE, TEXT, Heading, Mark, Outline

NO_TEXT = frozenset({"script", "style", "template"})
UNSEEN = NO_TEXT | {"noscript", "svg", "nav", "footer", "head"}
IN_HEAD = NO_TEXT | {"title", "meta", "link", "base", "noscript", "basefont", "bgsound"}
PREFORMATTED = frozenset({"pre", "listing", "xmp"})
BREAKING = frozenset(
    re.findall(
        r"\w+",
        """
        address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure
        form h1 h2 h3 h4 h5 h6 header hr html legend li listing main ol option p pre section select summary table tbody
        td tfoot th thead tr ul xmp
        """,
    )
)
CELLS = frozenset({"td", "th"})
HEADING = re.compile(r"h[1-6]")
ENDS = (("<!--", "-->"), ("<![", "]"), ("<", ">"))
MAX_UNSEEN = 100
MAX_TITLE_CHARS = 1_000


def html(text: str) -> Outline:
    """Return the visible text, with a line for each block and for each row of a table."""
    outline = _read(text, UNSEEN)
    if all(mark == BLANK for mark in outline.marks):  # something that is never closed hides the page
        outline = _read(text, NO_TEXT)
    return outline


def _read(text: str, unseen: frozenset[str]) -> Outline:
    reader = _PageReader(unseen)
    reader.feed(_ended(text))
    reader.close()
    reader.end_line()
    reader.rows.close_all()
    return Outline(reader.lines, reader.marks, title=" ".join(reader.title.split()), numbers=reader.numbers)


def _ended(text: str) -> str:
    """Return the page with constructs that are never closed as text; the parser would search for each end again."""
    for opening, end in ENDS:
        last = text.rfind(end) + len(end) if end in text else 0
        text = text[:last] + text[last:].replace(opening, f"&lt;{opening[1:]}")
    return text


def as_paragraphs(outline: Outline) -> Outline:
    """Return the outline with numbers of paragraphs, for files whose lines are not visible to readers."""
    count = 0
    numbers: list[int] = []
    for mark in outline.marks:
        count += mark != BLANK
        numbers.append(max(1, count))
    return replace(outline, numbers=numbers, unit="paragraph")


class _PageReader(HTMLParser):
    def __init__(self, unseen: frozenset[str]) -> None:
        super().__init__()
        self.rows = Rows(self._put)
        self._hides = unseen
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
        if tag not in IN_HEAD and self._unseen[-1:] == ["head"]:  # many leave the end of the head out
            self._unseen.clear()
        if tag == "title":
            self._in_title = not self.title and set(self._unseen) <= {"head"}
        elif tag in self._hides and len(self._unseen) < MAX_UNSEEN:
            self._unseen.append(tag)
        elif tag == "body":
            self._unseen.clear()
        if tag in BREAKING:
            self.end_line()
        if not self._unseen:
            self._begin_in_table(tag, attrs)
        self._preformatted += tag in PREFORMATTED
        if HEADING.fullmatch(tag):
            self._heading = int(tag[1])

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        if tag in BREAKING:
            self.end_line()
        if not self._unseen:
            self._end_in_table(tag)
        if tag in PREFORMATTED:
            self._preformatted = max(0, self._preformatted - 1)
        if HEADING.fullmatch(tag):
            self._heading = 0

    def _begin_in_table(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.rows.open_table()
        elif tag == "tr":
            self.rows.close_row()
        elif tag in CELLS:
            self.rows.open_cell(dict(attrs))

    def _end_in_table(self, tag: str) -> None:
        if tag == "table":
            self.rows.close_table()
        elif tag == "tr":
            self.rows.close_row()
        elif tag in CELLS:
            self.rows.close_cell()

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = (self.title + data)[:MAX_TITLE_CHARS]
            return
        if data.strip() and self._unseen == ["head"]:
            self._unseen.clear()
        if not self._unseen:
            first, *others = data.split("\n") if self._preformatted else [data]
            self._add(first, self.getpos()[0])
            for number, line in enumerate(others, self.getpos()[0] + 1):
                self.end_line()
                self._add(line, number)

    def end_line(self) -> None:
        """Finish the collected line; whatever follows a block of text is a paragraph of its own."""
        pieces, self._pieces = self._pieces, []
        text = "".join(pieces)
        text = text.rstrip() if self._preformatted else " ".join(text.split())
        if not text.strip():
            self.rows.put(Block("", BLANK, self._line))
        elif self._heading:
            self.rows.put(Block(text, Heading(self._heading, " ".join(text.split())), self._line))
        else:
            self.rows.put(Block(text, CODE if self._preformatted else TEXT, self._line))

    def _add(self, text: str, number: int) -> None:
        if not self._pieces:
            skipped = 0 if self._preformatted else text[: len(text) - len(text.lstrip())].count("\n")
            self._line = number + skipped
        if text.strip() or self._pieces or (self._preformatted and text):
            self._pieces.append(text)

    def _put(self, block: Block) -> None:
        if block.mark == BLANK and self.marks[-1:] in ([], [BLANK]):
            return
        self.lines.append(block.text)
        self.marks.append(block.mark)
        self.numbers.append(max(block.number, *self.numbers[-1:]) if self.numbers else block.number)
