"""The words of texts as SQLite's full-text index has them, for indexes that are not SQLite's."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import cast

from conversation_mcp.searching.database import connect
from conversation_mcp.searching.words import BOUNDARY, TOKENIZER

CREATE = (
    f'CREATE VIRTUAL TABLE texts USING fts5(text, tokenize="{TOKENIZER}")',
    "CREATE VIRTUAL TABLE spots USING fts5vocab(texts, 'instance')",
)
SPOTS = "SELECT doc, term FROM spots ORDER BY doc, offset"
NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}
BETWEEN = f" {BOUNDARY} "
MAX_CHARS = 32_768
"""Of a text that has no word from which the tokenizer would drop the end."""


def cut(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of each text in order, as the tokenizer cuts them, so that no index differs from another."""
    words = [_plain(text) for text in texts]
    if None in words:
        left = iter(_tokenized([text for text, known in zip(texts, words, strict=True) if known is None]))
        return [next(left) if known is None else known for known in words]
    return cast("list[list[str]]", words)


def _plain(text: str) -> list[str] | None:
    """Return the words of an ASCII text, which needs no tokenizer to know its letters; else None."""
    parts = text.split(BETWEEN)
    if len(text) > MAX_CHARS or not all(map(str.isascii, parts)):
        return None
    first, *others = (part.translate(NO_WORD).lower().split() for part in parts)
    for part in others:
        first += [BOUNDARY, *part]
    return first


def _tokenized(texts: Sequence[str]) -> list[list[str]]:
    """Have the tokenizer itself cut the texts, which takes a while."""
    words = [list[str]() for _ in texts]
    with closing(connect(":memory:")) as database:
        for statement in CREATE:
            database.execute(statement)
        database.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
        spots = cast("Iterable[tuple[int, str | None]]", database.execute(SPOTS))
        for row, word in spots:
            if word:  # of a mark that combines with nothing, no word is left
                words[row].append(word)
    return words
