"""The words of texts as SQLite's full-text index has them, for indexes that are not SQLite's."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import cast

from conversation_mcp.searching.database import connect
from conversation_mcp.searching.words import TOKENIZER

CREATE = (
    f'CREATE VIRTUAL TABLE texts USING fts5(text, tokenize="{TOKENIZER}")',
    "CREATE VIRTUAL TABLE spots USING fts5vocab(texts, 'instance')",
)
SPOTS = "SELECT doc, term FROM spots ORDER BY doc, offset"


def cut(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of each text in order, cut by the tokenizer itself, so that no index differs from another."""
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
