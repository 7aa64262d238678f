"""The rows of memories in the index: one of facts, some of tags, and one of words for each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from conversation_mcp.records.found import MemoryFacts
from conversation_mcp.records.memory_facts import facts_text, searched_text
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.searching.words import Indexer
from conversation_mcp.stores.meant_texts import embedding_hash
from conversation_mcp.text import fold

if TYPE_CHECKING:
    import sqlite3

NUMBER_BITS = 22
"""A row has the key of its conversation above these bits, and in them the number of its message or memory."""
PUT = "INSERT INTO memories (row, id, same, created, embedding, facts) VALUES (?, ?, ?, ?, ?, ?)"
KNOWN = "SELECT row, facts FROM memories WHERE row BETWEEN ? AND ?"
TABLES = {"memories": "row", "memory_tags": "row", "memory_words": "rowid"}
"""The name of the row in each."""


class MemoryRows:
    """Writes the memories of conversations, inside the caller's transaction."""

    def __init__(self, database: "sqlite3.Connection", indexer: Indexer) -> None:
        self._database = database
        self._indexer = indexer

    def put(self, first: int, memories: Sequence[MemoryFacts]) -> None:
        """Write the memories of the conversation whose rows begin at `first`; only those that have changed."""
        known, wanted = self._known(first), _texts_of(first, memories)
        changed = {row for row in known.keys() | wanted.keys() if known.get(row) != wanted.get(row)}
        for table, column in TABLES.items():
            gone = ((row,) for row in changed & known.keys())
            self._database.executemany(f"DELETE FROM {table} WHERE {column} = ?", gone)  # noqa: S608 -- names from above
        for row in sorted(changed & wanted.keys()):
            self._add(row, memories[row - first - 1], wanted[row])

    def has(self, first: int, memories: Sequence[MemoryFacts]) -> bool:
        """Tell whether the index knows exactly these."""
        return self._known(first) == _texts_of(first, memories)

    def _add(self, row: int, memory: MemoryFacts, facts: str) -> None:
        same = same_text(memory.content)
        values = row, memory.memory_id, same, memory.created_milliseconds, embedding_hash(memory), facts
        self._database.execute(PUT, values)
        tags = ((tag, row) for tag in {fold(tag) for tag in memory.tags})
        self._database.executemany("INSERT INTO memory_tags VALUES (?, ?)", tags)
        words = self._indexer.indexed_text(searched_text(memory))
        self._database.execute("INSERT INTO memory_words (rowid, text) VALUES (?, ?)", (row, words))

    def _known(self, first: int) -> dict[int, str]:
        return dict(self._database.execute(KNOWN, (first, first + (1 << NUMBER_BITS) - 1)))


def _texts_of(first: int, memories: Sequence[MemoryFacts]) -> dict[int, str]:
    return {first + number: facts_text(memory) for number, memory in enumerate(memories, 1)}
