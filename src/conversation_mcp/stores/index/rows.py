"""What the index holds of a conversation: a row of facts, what it is filtered by, and a row of words per message."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from conversation_mcp.stores.index.base import Described
from conversation_mcp.stores.index.files import Seen
from conversation_mcp.stores.index.words import Indexer

if TYPE_CHECKING:
    import sqlite3

NUMBER_BITS = 22
"""A row of `messages` has the key of its conversation above these bits, and its message number in them."""
STAMPS = "SELECT id, stamp FROM conversations INDEXED BY stamps WHERE id IN (?)"
PUT = """
    INSERT INTO conversations (id, stamp, updated, archived, pending, facts, problem) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET stamp = excluded.stamp, updated = excluded.updated, archived = excluded.archived,
        pending = excluded.pending, facts = excluded.facts, problem = excluded.problem
"""
KEY = "SELECT key FROM conversations WHERE id = ?"
WORDS = "SELECT rowid, text FROM messages WHERE rowid BETWEEN ? AND ?"


class Rows:
    """Reads and writes the rows of conversations, inside of the transaction that the caller began."""

    def __init__(self, database: "sqlite3.Connection") -> None:
        self._database = database
        self._indexer = Indexer()

    def stamps(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the stamps of the files as they were when they were read, of those conversations that have rows."""
        return dict(self._database.execute(STAMPS.replace("?", ",".join("?" * len(ids))), ids))

    def put(self, conversation_id: str, seen: Seen) -> None:
        """Write what was seen in a file over what was seen before."""
        content = seen.content if isinstance(seen.content, Described) else None
        facts = content.facts if content else None
        problem = seen.content if isinstance(seen.content, str) else None
        known = (
            (facts.updated_milliseconds, facts.archived, facts.pending, json.dumps(vars(facts)))
            if facts
            else (None,) * 4
        )
        self._database.execute(PUT, (conversation_id, seen.stamp, *known, problem))
        self._put_content(self._database.execute(KEY, (conversation_id,)).fetchone()[0], content)

    def drop(self, conversation_id: str) -> None:
        """Remove the conversation."""
        found = self._database.execute(KEY, (conversation_id,)).fetchone()
        if found is not None:
            self._put_content(found[0], None)
            self._database.execute("DELETE FROM conversations WHERE key = ?", found)

    def _put_content(self, key: int, content: Described | None) -> None:
        self._database.execute("DELETE FROM facets WHERE key = ?", (key,))
        facets = ((*facet, key) for facet in (content.facets if content else ()))
        self._database.executemany("INSERT INTO facets VALUES (?, ?, ?)", facets)
        self._put_words(key << NUMBER_BITS, content.texts if content else {})

    def _put_words(self, first: int, texts: Mapping[int, str]) -> None:
        """Write the messages that are not as they were: mostly a turn is added to many that stay."""
        wanted = {first + number: self._indexer.indexed_text(text) for number, text in texts.items()}
        rows = self._database.execute(WORDS, (first, first + (1 << NUMBER_BITS) - 1))
        known: dict[int, str] = dict(rows)
        changed = {row for row in known.keys() | wanted.keys() if known.get(row) != wanted.get(row)}
        self._database.executemany("DELETE FROM messages WHERE rowid = ?", ((row,) for row in changed & known.keys()))
        added = ((row, wanted[row]) for row in sorted(changed & wanted.keys()))
        self._database.executemany("INSERT INTO messages (rowid, text) VALUES (?, ?)", added)
