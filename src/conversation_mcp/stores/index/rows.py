"""The rows of a conversation in the index: one of facts, some of facets, and one of words per message."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from conversation_mcp.records.found import Indexed, Listed
from conversation_mcp.searching.stamped import Seen, StampedRows
from conversation_mcp.searching.words import Indexer
from conversation_mcp.stores.index.memory_rows import NUMBER_BITS, MemoryRows

if TYPE_CHECKING:
    import sqlite3

Content = Indexed | str
PUT = """
    INSERT INTO conversations (id, stamp, updated, archived, pending, facts, problem) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET stamp = excluded.stamp, updated = excluded.updated, archived = excluded.archived,
        pending = excluded.pending, facts = excluded.facts, problem = excluded.problem
"""
ROW = "SELECT key, updated, archived, pending, facts, problem FROM conversations WHERE id = ?"
KEY = "SELECT key FROM conversations WHERE id = ?"
WORDS = "SELECT rowid, text FROM messages WHERE rowid BETWEEN ? AND ?"


class ConversationRows(StampedRows[Content]):
    """The rows of conversations."""

    TABLE = "conversations"
    ROW = "key"
    KEY = "id"
    INDEX = "stamps"

    def __init__(self, database: "sqlite3.Connection") -> None:
        super().__init__(database)
        self._indexer = Indexer()
        self._memories = MemoryRows(database, self._indexer)

    def put(self, key: str, seen: Seen[Content]) -> None:
        """Write what was seen of it over what was seen before."""
        self.database.execute(PUT, (key, seen.stamp, *_row_of(seen)))
        row = self.database.execute(KEY, (key,)).fetchone()[0]
        self._put_content(row, _content_of(seen))

    def has(self, conversation_id: str, seen: Seen[Content]) -> bool:
        """Tell whether the index knows exactly what was seen of it."""
        found = self.database.execute(ROW, (conversation_id,)).fetchone()
        content = _content_of(seen)
        if found is None or content is None:
            return found is not None and found[-1] is not None
        first = found[0] << NUMBER_BITS
        facets = frozenset(self.database.execute("SELECT kind, value FROM facets WHERE key = ?", found[:1]))
        return (
            found[1:] == _row_of(seen)
            and facets == content.facets
            and self._known_words(first) == self._words_of(first, content.texts)
            and self._memories.has(first, content.memories)
        )

    def drop(self, key: str) -> None:
        """Remove the conversation."""
        found = self.database.execute(KEY, (key,)).fetchone()
        if found is not None:
            self._put_content(found[0], None)
            self.database.execute("DELETE FROM conversations WHERE key = ?", found)

    def _put_content(self, key: int, content: Indexed | None) -> None:
        self.database.execute("DELETE FROM facets WHERE key = ?", (key,))
        facets = ((*facet, key) for facet in (content.facets if content else ()))
        self.database.executemany("INSERT INTO facets VALUES (?, ?, ?)", facets)
        self._put_words(key << NUMBER_BITS, content.texts if content else {})
        self._memories.put(key << NUMBER_BITS, content.memories if content else ())

    def _put_words(self, first: int, texts: Mapping[int, str]) -> None:
        """Write only the messages that have changed: usually a turn is added to many that have not."""
        wanted, known = self._words_of(first, texts), self._known_words(first)
        changed = {row for row in known.keys() | wanted.keys() if known.get(row) != wanted.get(row)}
        self.database.executemany("DELETE FROM messages WHERE rowid = ?", ((row,) for row in changed & known.keys()))
        added = ((row, wanted[row]) for row in sorted(changed & wanted.keys()))
        self.database.executemany("INSERT INTO messages (rowid, text) VALUES (?, ?)", added)

    def _words_of(self, first: int, texts: Mapping[int, str]) -> dict[int, str]:
        return {first + number: self._indexer.indexed_text(text) for number, text in texts.items()}

    def _known_words(self, first: int) -> dict[int, str]:
        return dict(self.database.execute(WORDS, (first, first + (1 << NUMBER_BITS) - 1)))


def _content_of(seen: Seen[Content]) -> Indexed | None:
    return seen.content if isinstance(seen.content, Indexed) else None


def _row_of(seen: Seen[Content]) -> tuple[object, ...]:
    """Return the columns of a conversation from `updated` on."""
    if isinstance(seen.content, str):
        return (None, None, None, None, seen.content)
    facts = seen.content.facts
    return (facts.updated_milliseconds, facts.archived, facts.pending, _json_of(facts), None)


def _json_of(facts: Listed) -> str:
    return json.dumps({name: value for name, value in facts._asdict().items() if value is not None})
