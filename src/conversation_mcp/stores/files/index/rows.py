"""What the index holds of a conversation: a row of facts, what it is filtered by, and a row of words per message."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from conversation_mcp.records.found import Indexed, Listed
from conversation_mcp.searching.words import Indexer
from conversation_mcp.stores.files.index.stamps import Seen

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
ROW = "SELECT key, updated, archived, pending, facts, problem FROM conversations WHERE id = ?"
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
        self._database.execute(PUT, (conversation_id, seen.stamp, *_row_of(seen)))
        key = self._database.execute(KEY, (conversation_id,)).fetchone()[0]
        self._put_content(key, _content_of(seen))

    def has(self, conversation_id: str, seen: Seen) -> bool:
        """Tell whether what was seen in a file is all that is known of the conversation."""
        found = self._database.execute(ROW, (conversation_id,)).fetchone()
        content = _content_of(seen)
        if found is None or content is None:
            return found is not None and found[-1] is not None
        first = found[0] << NUMBER_BITS
        facets = frozenset(self._database.execute("SELECT kind, value FROM facets WHERE key = ?", found[:1]))
        return (
            found[1:] == _row_of(seen)
            and facets == content.facets
            and self._known_words(first) == self._words_of(first, content.texts)
        )

    def drop(self, conversation_id: str) -> None:
        """Remove the conversation."""
        found = self._database.execute(KEY, (conversation_id,)).fetchone()
        if found is not None:
            self._put_content(found[0], None)
            self._database.execute("DELETE FROM conversations WHERE key = ?", found)

    def _put_content(self, key: int, content: Indexed | None) -> None:
        self._database.execute("DELETE FROM facets WHERE key = ?", (key,))
        facets = ((*facet, key) for facet in (content.facets if content else ()))
        self._database.executemany("INSERT INTO facets VALUES (?, ?, ?)", facets)
        self._put_words(key << NUMBER_BITS, content.texts if content else {})

    def _put_words(self, first: int, texts: Mapping[int, str]) -> None:
        """Write the messages that are not as they were: mostly a turn is added to many that stay."""
        wanted, known = self._words_of(first, texts), self._known_words(first)
        changed = {row for row in known.keys() | wanted.keys() if known.get(row) != wanted.get(row)}
        self._database.executemany("DELETE FROM messages WHERE rowid = ?", ((row,) for row in changed & known.keys()))
        added = ((row, wanted[row]) for row in sorted(changed & wanted.keys()))
        self._database.executemany("INSERT INTO messages (rowid, text) VALUES (?, ?)", added)

    def _words_of(self, first: int, texts: Mapping[int, str]) -> dict[int, str]:
        return {first + number: self._indexer.indexed_text(text) for number, text in texts.items()}

    def _known_words(self, first: int) -> dict[int, str]:
        return dict(self._database.execute(WORDS, (first, first + (1 << NUMBER_BITS) - 1)))


def _content_of(seen: Seen) -> Indexed | None:
    return seen.content if isinstance(seen.content, Indexed) else None


def _row_of(seen: Seen) -> tuple[object, ...]:
    """Return the columns of a conversation from `updated` on."""
    if isinstance(seen.content, str):
        return (None, None, None, None, seen.content)
    facts = seen.content.facts
    return (facts.updated_milliseconds, facts.archived, facts.pending, _json_of(facts), None)


def _json_of(facts: Listed) -> str:
    return json.dumps({name: value for name, value in vars(facts).items() if value is not None})
