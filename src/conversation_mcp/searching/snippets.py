"""Snippets: the part of a text that matches a query, with the matching words between `**`."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from conversation_mcp.searching.database import connect
from conversation_mcp.searching.words import ASCII_WORD, BOUNDARY, TOKENIZER, variants
from conversation_mcp.text import UNSPACED_SCRIPTS, fold, index_text, storable

MARK = "**"
OPEN, CLOSE = "\ufdd0", "\ufdd1"  # noncharacters of Unicode, which texts do not contain
SHOWN_CHARS = 160
CHARS_BEFORE = 40
CREATE = f'CREATE VIRTUAL TABLE shown USING fts5(text, tokenize="{TOKENIZER}")'
HIGHLIGHT = "SELECT rowid, highlight(shown, 0, ?, ?) FROM shown WHERE shown MATCH ?"

Span = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """A word as it is indexed, and the place in the text that each of its characters comes from."""

    indexed: str
    origins: Sequence[Span]


def snippets(texts: Sequence[str], match: str) -> list[str]:
    """Return the part of each text with the most matching words, on one line.

    The index's own tokenizer marks the words in a table in memory, so that snippets agree with the results.
    """
    texts = [storable(text).replace(MARK, "") for text in texts]
    pieces = [list(_pieces(text)) for text in texts]
    with closing(connect(":memory:")) as database:
        database.execute(CREATE)
        rows = (("\n".join(piece.indexed for piece in words),) for words in pieces)
        database.executemany("INSERT INTO shown VALUES (?)", rows)
        marked: dict[int, str] = dict(database.execute(HIGHLIGHT, (OPEN, CLOSE, match)))
    return [
        _cut_out(text, _merged(text, sorted(_spans(marked.get(row, ""), words))))
        for row, (text, words) in enumerate(zip(texts, pieces, strict=True), 1)
    ]


def _spans(marked: str, pieces: Sequence[Piece]) -> Iterator[Span]:
    """Yield the places in the text of the characters between the marks."""
    is_marked = False
    for line, piece in zip(marked.split("\n") if marked else (), pieces, strict=False):
        place = 0
        for char in line:
            if char in (OPEN, CLOSE):
                is_marked = char == OPEN
                continue
            if is_marked and char != " ":
                yield piece.origins[place]
            place += 1


def _pieces(text: str) -> Iterator[Piece]:
    for found in re.finditer(r"\S+", text):
        yield _piece(found.group(), found.start())
    yield Piece(BOUNDARY, [(0, 0)])
    for found in ASCII_WORD.finditer(text):
        for variant in variants(found.group()):
            yield Piece(variant, [found.span()] * len(variant))


def _piece(word: str, start: int) -> Piece:
    """Follow each character through folding, or keep the word whole if folding joins characters."""
    if word.isascii():
        return Piece(fold(word), [(place, place + 1) for place in range(start, start + len(word))])
    indexed = index_text(word).replace(OPEN, " ").replace(CLOSE, " ")
    folded = [fold(char) for char in word]
    if "".join(folded) != fold(word):
        return Piece(indexed, [(start, start + len(word))] * len(indexed))
    origins: list[Span] = []
    for place, chars in enumerate(folded, start):
        for char in chars:
            # `index_text` puts a space on each side of a character of an unspaced script.
            origins += [(place, place + 1)] * (3 if re.match(UNSPACED_SCRIPTS, char) else 1)
    return Piece(indexed, origins)


def _merged(text: str, spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and (start <= merged[-1][1] or text[merged[-1][1] : start] == " "):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def _cut_out(text: str, spans: Sequence[Span]) -> str:
    start, end = _window(text, _densest([opened for opened, _ in spans]))
    line, place = "", start
    for opened, closed in spans:
        if opened >= start and opened < end:
            line += text[place:opened] + MARK + text[opened : min(closed, end)] + MARK
            place = min(closed, end)
    line = " ".join((line + text[place:end]).split())
    return ("…" if text[:start].strip() else "") + line + ("…" if text[end:].strip() else "")


def _densest(starts: Sequence[int]) -> int:
    """Return the start from which most other starts fit into the snippet; of several, the first."""
    reach = SHOWN_CHARS - CHARS_BEFORE
    counts = [bisect_left(starts, start + reach) - place for place, start in enumerate(starts)]
    return starts[counts.index(max(counts))] if starts else 0


def _window(text: str, first: int) -> Span:
    """Return where to cut so that the place is shown with some text before it, at a space if one is near."""
    start = max(0, first - CHARS_BEFORE)
    if start and (space := text.find(" ", start, first)) >= 0:
        start = space + 1
    while start < first and unicodedata.category(text[start]).startswith("M"):
        start += 1
    end = min(len(text), start + SHOWN_CHARS)
    if end < len(text) and (space := text.rfind(" ", start + SHOWN_CHARS // 2, end)) >= first:
        end = space
    return start, end
