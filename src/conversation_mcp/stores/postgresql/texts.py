"""The rows of words, from which `ranking.py` finds messages."""

from collections.abc import Iterable, Mapping

from conversation_mcp.searching.cutting import cut
from conversation_mcp.searching.words import Indexer
from conversation_mcp.stores.postgresql.connections import Connection, Database

LEXEME_CHARS = 200
LEXEMES_BYTES = 900_000
"""A text with more different words than fit here is found by the first of them."""
PUT = """
    INSERT INTO words (owner, slot, number, word_count, lexemes, line)
    VALUES (%s, %s, %s, %s, array_to_tsvector(%s::text[]), %s)
    ON CONFLICT (owner, slot, number)
    DO UPDATE SET word_count = excluded.word_count, lexemes = excluded.lexemes, line = excluded.line
"""


def put_texts(connection: Connection, database: Database, slot: int, texts: Mapping[int, str]) -> None:
    """Index these texts of a conversation in place of those with their numbers; of an empty one no row stays."""
    if gone := [number for number, text in texts.items() if not text]:
        sql = "DELETE FROM words WHERE owner = %s AND slot = %s AND number = ANY(%s)"
        connection.execute(sql, (database.owner, slot, gone))
    there = {number: text for number, text in texts.items() if text}
    if not there:
        return
    indexer = Indexer()
    cuts = cut([indexer.indexed_text(text) for text in there.values()])
    with connection.cursor() as cursor:
        cursor.executemany(
            PUT,
            [
                (database.owner, slot, number, len(words), lexemes_of(database, words), line_of(words))
                for number, words in zip(there, cuts, strict=True)
            ],
        )


def lexeme(database: Database, word: str) -> str:
    """Return the word as the index has it, marked as the owner's."""
    return f"{database.known_number}:{word[:LEXEME_CHARS]}"


def quoted(lexeme: str) -> str:
    """Return the lexeme as expressions of searches have it."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def lexemes_of(database: Database, words: Iterable[str]) -> list[str]:
    """Return the different lexemes, as many as the database takes of a text."""
    kept: list[str] = []
    left = LEXEMES_BYTES
    for found in dict.fromkeys(lexeme(database, word) for word in words):
        left -= len(found.encode())
        if left < 0:
            break
        kept.append(found)
    return kept


def line_of(words: list[str]) -> str:
    """Return the words in order, each between spaces."""
    return f" {' '.join(words)} "
