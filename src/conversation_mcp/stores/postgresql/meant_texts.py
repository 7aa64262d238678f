"""The turns of conversations and the memories in the database, as texts of which vectors are made."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.memory_facts import remembered
from conversation_mcp.records.parts import joined
from conversation_mcp.records.plain import read_data
from conversation_mcp.records.turn_texts import turn_texts
from conversation_mcp.searching.vectors.pieces import TextPiece, TextSource
from conversation_mcp.stores.meant_texts import VERSION, memory_pieces, memory_state, turn_pieces
from conversation_mcp.stores.postgresql.connections import Connection, Database

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

LIVE = "owner = %s AND deleted_milliseconds IS NULL AND head IS NOT NULL"
CONVERSATIONS = f"SELECT id, slot, version FROM conversations WHERE {LIVE}"
PARTS = f"""
    SELECT head::text, ARRAY(
        SELECT body::text FROM messages m WHERE m.owner = c.owner AND m.slot = c.slot ORDER BY number
    ) FROM conversations c WHERE {LIVE} AND id = %s
"""
SAME = "SELECT same, max(embedding) FROM memories WHERE owner = %s GROUP BY same"
MEMORY = """
    SELECT embedding, facts::text FROM memories WHERE owner = %s AND same = %s
    ORDER BY embedding DESC NULLS LAST LIMIT 1
"""


class LockedGroup(NamedTuple):
    """A group that nobody changes until the end of the transaction."""

    state: str
    slot: int | None
    """Of a conversation."""


class StoredTexts(TextSource, Protocol):
    """Texts in the database."""

    kind: str

    def locked(self, connection: Connection, group: str) -> LockedGroup | None:
        """Return the group as it is now, and keep others from changing it; None if it is gone."""
        ...


class StoredTurns:
    """The turns by conversation; satisfies StoredTexts."""

    kind = "turns"

    def __init__(self, database: Database) -> None:
        self._database = database

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the version of each conversation."""
        for name, slot, version in self._database.rows(CONVERSATIONS):
            yield name, _state(slot, version)

    def pieces(self, group: str) -> Sequence[TextPiece]:
        """Return the turns of a conversation in order; none if it cannot be read."""
        found = self._database.first(PARTS, group)
        if found is None:
            return ()
        try:
            data = read_data(joined(*found), self._database.location(group), cast("ConversationId", group))
        except ConversationMCPError:
            return ()
        return turn_pieces(turn_texts(data))

    def state(self, group: str) -> str | None:
        """Return the version of the conversation, None if it is gone."""
        found = self._database.first(f"{CONVERSATIONS} AND id = %s", group)
        return _state(*found[1:]) if found else None

    def locked(self, connection: Connection, group: str) -> LockedGroup | None:
        """Lock the row of the conversation, which every change updates."""
        sql = f"{CONVERSATIONS} AND id = %s FOR SHARE".encode()
        found = connection.execute(sql, (self._database.owner, group)).fetchone()
        return LockedGroup(_state(*found[1:]), found[1]) if found else None


class StoredMemoryTexts:
    """The texts of memories by their hash; satisfies StoredTexts. What several conversations have is embedded once."""

    kind = "memories"

    def __init__(self, database: Database) -> None:
        self._database = database

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the hash of each text, and the state, which changes with a vector that is given."""
        for same, embedding in self._database.rows(SAME):
            yield same, memory_state(embedding)

    def pieces(self, group: str) -> Sequence[TextPiece]:
        """Return a vector that is given and the parts of the text in order; none if no memory has it any more."""
        found = self._database.first(MEMORY, group)
        return memory_pieces(remembered(found[1])) if found else ()

    def state(self, group: str) -> str | None:
        """Return the state of the text, None if no memory has it."""
        found = self._database.first(MEMORY, group)
        return memory_state(found[0]) if found else None

    def locked(self, connection: Connection, group: str) -> LockedGroup | None:
        """Lock a memory with the text: with the last one the vectors go, too."""
        found = connection.execute(f"{MEMORY} FOR SHARE".encode(), (self._database.owner, group)).fetchone()
        return LockedGroup(memory_state(found[0]), None) if found else None


def _state(slot: int, version: int) -> str:
    return f"{VERSION}:{slot}:{version}"
