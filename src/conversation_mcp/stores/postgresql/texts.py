"""The rows of words, from which `ranking.py` finds messages."""

from collections.abc import Mapping
from typing import NamedTuple

from conversation_mcp.searching.cutting import cut
from conversation_mcp.searching.words import Indexer
from conversation_mcp.stores.postgresql.connections import Connection, Database

LEXEME_CHARS = 200
LEXEMES_BYTES = 900_000
"""A text with more different words than fit here is found by the first of them."""
PUT = """
    INSERT INTO words (owner, slot, number, word_count, lexemes, line)
    VALUES (%s, %s, %s, %s, array_to_tsvector(string_to_array(%s, ' ')), %s)
"""
_indexer = Indexer()


class CutText(NamedTuple):
    """The words of a text, as its row has them."""

    number: int
    word_count: int
    lexemes: str
    """Each word once, with a space between any two."""
    line: str
    """The words in order, each between spaces."""


def cut_texts(database: Database, texts: Mapping[int, str]) -> list[CutText]:
    """Cut these texts of a conversation into words."""
    cuts = cut([_indexer.indexed_text(text) for text in texts.values()]) if texts else []
    return [
        CutText(number, len(words), _lexemes(database, words), f" {' '.join(words)} ")
        for number, words in zip(texts, cuts, strict=True)
    ]


def put_texts(connection: Connection, database: Database, slot: int, texts: Mapping[int, str]) -> None:
    """Index these texts of a conversation that has no rows of words."""
    with connection.cursor() as cursor:
        cursor.executemany(PUT, [(database.owner, slot, *each) for each in cut_texts(database, texts)])


def lexeme(database: Database, word: str) -> str:
    """Return the word as the index has it, marked as the owner's."""
    return f"{database.known_number}:{word[:LEXEME_CHARS]}"


def _lexemes(database: Database, words: list[str]) -> str:
    lexemes = dict.fromkeys(lexeme(database, word) for word in dict.fromkeys(words))
    whole = " ".join(lexemes)
    if len(whole.encode()) <= LEXEMES_BYTES:
        return whole
    kept = whole.encode()[:LEXEMES_BYTES].rpartition(b" ")[0]
    return kept.decode()
