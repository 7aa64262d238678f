"""Conversion of answers in HTML to Markdown."""

import re
from html.parser import HTMLParser

UNSEEN = frozenset({"script", "style", "template", "head", "title"})
BLOCKS = frozenset({"address", "article", "div", "dl", "dd", "dt", "figure", "figcaption", "p", "section", "summary"})
MARKS = {"b": "**", "strong": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
LANGUAGE = re.compile(r"\blanguage-([\w+#.-]+)")
WEB = ("https://", "http://", "mailto:")
# Deeper lists are indented no further: on a hostile page, all indentation would grow with the square of the lists.
INDENT, MAX_DEPTH = "  ", 50
NO_TAG = re.compile(r"<(?![/!]?[a-zA-Z][^<>]*>)")
START = re.compile(r"[0-9]{1,6}")


def markdown_of(html: str) -> str:
    """Return the visible text of the page as Markdown, with its headings, lists, tables, links and code."""
    reader = _MarkdownReader()
    reader.feed(_closed(html))
    reader.close()
    return reader.text()


def _closed(html: str) -> str:
    """Return the page without comments, and with each `<` escaped that does not begin a tag.

    The parser would search from each of these to the end of the page, which takes hours if there are many.
    """
    first, *others = html.split("<!--")
    pieces = [first]
    for piece in others:
        inside, end, rest = piece.partition("-->")
        pieces.append(rest if end else inside)
    return NO_TAG.sub("&lt;", "".join(pieces))


class _MarkdownReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str] = []
        self._unseen = self._quotes = self._rows = self._cell_from = 0
        self._code_from: int | None = None
        self._language = ""
        self._lists: list[int | None] = []
        self._links: list[str] = []
        self._row: list[str] | None = None

    def text(self) -> str:
        """Return the whole text, with at most one blank line between blocks."""
        self._end_row()
        return re.sub(r"\n{3,}", "\n\n", "".join(self._pieces)).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        if tag in UNSEEN:
            self._unseen += 1
        elif tag == "br":
            self._put(" " if self._row is not None else "\n")
        elif tag == "hr":
            self._block("---\n\n")
        elif tag == "img":
            self._put(_link(facts.get("alt") or "picture", facts.get("src") or ""))
        elif tag == "pre":
            self._block("")
            self._code_from, self._language = len(self._pieces), ""
        elif tag == "code":
            found = LANGUAGE.search(facts.get("class") or "")
            self._language = found[1] if found else self._language
            self._mark("`")
        elif tag == "a":
            self._links.append(facts.get("href") or "")
            self._put("[" if self._links[-1].startswith(WEB) else "")
        else:
            self._begin(tag, facts)

    def _begin(self, tag: str, facts: dict[str, str | None]) -> None:
        if tag in MARKS:
            self._mark(MARKS[tag])
        elif tag in HEADINGS:
            self._block(f"{HEADINGS[tag]} ")
        elif tag in {"ul", "ol"}:
            start = facts.get("start") or ""
            self._lists.append((int(start) if START.fullmatch(start) else 1) if tag == "ol" else None)
            self._put("" if len(self._lists) > 1 else "\n\n")
        elif tag == "li":
            self._item()
        elif tag == "blockquote":
            self._quotes += 1
            self._block("")
        elif tag == "tr":
            self._end_row()
            self._row = []
        elif tag in {"td", "th"}:
            self._cell_from = len(self._pieces)
        elif tag == "table":
            self._rows = 0
            self._block("")
        elif tag in BLOCKS:
            self._block("")

    def _item(self) -> None:
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        depth = INDENT * min(max(0, len(self._lists) - 1), MAX_DEPTH)
        self._put(f"\n{depth}{'- ' if number is None else f'{number}. '}")

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag == "pre" and self._code_from is not None:
            self._end_code(self._code_from)
        elif tag == "code":
            self._mark("`")
        elif tag == "a" and self._links:
            address = self._links.pop()
            self._put(f"]({address})" if address.startswith(WEB) else "")
        elif tag in MARKS:
            self._mark(MARKS[tag])
        elif tag in {"td", "th", "tr"} and self._row is not None:
            self._end_cell(self._row, is_last=tag == "tr")
        else:
            self._end(tag)

    def _end(self, tag: str) -> None:
        if tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
            self._put("" if self._lists else "\n\n")
        elif tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)
            self._put("\n\n")
        elif tag in HEADINGS or tag == "table" or tag in BLOCKS:
            self._put("\n\n")

    def _end_code(self, begin: int) -> None:
        """Put the code in a fence that is longer than any in the code."""
        code = "".join(self._pieces[begin:]).strip("\n")
        del self._pieces[begin:]
        self._code_from = None
        fence = "`" * max(3, max(map(len, re.findall("`+", code)), default=0) + 1)
        self._put(f"{fence}{self._language}\n{code}\n{fence}\n\n")

    def _end_cell(self, row: list[str], *, is_last: bool) -> None:
        if is_last:
            self._end_row()
            return
        cell = "".join(self._pieces[self._cell_from :])
        del self._pieces[self._cell_from :]
        row.append(" ".join(cell.split()).replace("|", r"\|"))

    def _end_row(self) -> None:
        row, self._row = self._row, None
        if row is None:
            return
        self._rows += 1
        self._put(f"\n| {' | '.join(row)} |")
        if self._rows == 1:
            self._put(f"\n|{' --- |' * len(row)}")

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._code_from is not None:
            self._pieces.append(data)
            return
        text = re.sub(r"[ \t\r\n\u00a0]+", " ", data)
        before = self._pieces[-1] if self._pieces else "\n"
        text = text.lstrip() if before.endswith(("\n", " ")) else text
        self._put("> " * self._quotes + text if before.endswith("\n") and text else text)

    def _block(self, beginning: str) -> None:
        """Begin a block, but keep the text of a list item on the line of its mark."""
        is_in_item = bool(self._lists) and bool(self._pieces) and re.fullmatch(r"\n *(?:-|\d+\.) ", self._pieces[-1])
        self._put(
            ("" if is_in_item or self._row is not None else "\n\n")
            + ("> " * self._quotes + beginning if beginning else "")
        )

    def _mark(self, mark: str) -> None:
        self._put(mark if self._code_from is None else "")

    def _put(self, text: str) -> None:
        if text and not self._unseen:
            self._pieces.append(text)


def _link(words: str, address: str) -> str:
    return f"[{' '.join(words.split())}]({address})" if address.startswith(WEB) else " ".join(words.split())
