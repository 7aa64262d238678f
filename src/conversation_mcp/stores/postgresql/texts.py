"""The words of texts: the rows from which `ranking.py` finds messages, and the lexemes of memories."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from conversation_mcp.searching.cutting import cut
from conversation_mcp.searching.words import Indexer
from conversation_mcp.stores.postgresql.connections import Connection, Database

LEXEME_CHARS = 200
LEXEMES_BYTES = 900_000
"""A text with more different words than fit here is found by the first of them."""
PUT = "INSERT INTO words (owner, slot, number, word_count, line) VALUES (%s, %s, %s, %s, %s)"
_indexer = Indexer()


class CutText(NamedTuple):
    """The words of a text, as its row has them."""

    number: int
    word_count: int
    line: str
    """The words in order, each between spaces."""


def cut_texts(texts: Mapping[int, str]) -> list[CutText]:
    """Cut these texts of a conversation into words."""
    cuts = cut([_indexer.indexed_text(text) for text in texts.values()])
    return [CutText(number, len(words), f" {' '.join(words)} ") for number, words in zip(texts, cuts, strict=True)]


def put_texts(connection: Connection, database: Database, slot: int, texts: Mapping[int, str]) -> None:
    """Index these texts of a conversation that has no rows of words."""
    with connection.cursor() as cursor:
        cursor.executemany(PUT, [(database.owner, slot, *each) for each in cut_texts(texts)])


def lexeme(word: str) -> str:
    """Return the word as the memories have it."""
    return word[:LEXEME_CHARS]


def lexemes_of(words: Iterable[str]) -> list[str]:
    """Return the different lexemes, as many as the database takes of a text."""
    kept: list[str] = []
    left = LEXEMES_BYTES
    for found in dict.fromkeys(map(lexeme, words)):
        left -= len(found.encode())
        if left < 0:
            break
        kept.append(found)
    return kept
