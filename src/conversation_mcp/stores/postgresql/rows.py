"""A conversation as rows: how it is read. `writing.py` has what is written."""

from typing import NamedTuple

from conversation_mcp.errors import ConversationNotFoundError
from conversation_mcp.records.codec import decode_with_data
from conversation_mcp.records.costs import inherited_count
from conversation_mcp.records.facts import tally_of, text_beside
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.parts import joined, message_bytes
from conversation_mcp.records.tally import Tally
from conversation_mcp.stores.postgresql.connections import Connection, Database

LIVE = "owner = %s AND id = %s AND deleted_milliseconds IS NULL AND head IS NOT NULL"
BODY = """
    SELECT head::text, ARRAY(
        SELECT body::text FROM messages m WHERE m.owner = c.owner AND m.slot = c.slot ORDER BY number
    ) FROM conversations c WHERE owner = %s AND slot = %s
"""


class Held(NamedTuple):
    """A conversation in memory with the sums that were made of it."""

    slot: int
    version: int
    conversation: Conversation
    tally: Tally
    inherited_count: int
    """Of the messages that are not in the cost of the tally."""
    head_bytes: int
    messages_bytes: int
    beside: str
    """The text outside of messages, as it is indexed."""

    @property
    def size_bytes(self) -> int:
        """The size of the file that it would be."""
        return self.head_bytes + self.messages_bytes


def body_of(connection: Connection, database: Database, slot: int, conversation_id: str) -> bytes:
    """Return the bytes of the file that the rows stand for.

    Raises:
        ConversationNotFoundError: they are gone.
    """
    return joined(*_parts(connection, database, slot, conversation_id))


def held(connection: Connection, database: Database, slot: int, version: int, conversation_id: ConversationId) -> Held:
    """Read the conversation; raises as `body_of` and `decode`."""
    head, texts = _parts(connection, database, slot, conversation_id)
    body = joined(head, texts)
    conversation, data = decode_with_data(body, database.location(conversation_id), conversation_id)
    sizes = sum(map(message_bytes, texts))
    beside = text_beside(data)
    return Held(slot, version, conversation, tally_of(data), inherited_count(data), len(body) - sizes, sizes, beside)


def empty(slot: int, conversation: Conversation) -> Held:
    """Return what stands for nothing written yet."""
    return Held(slot, 0, conversation.changed(messages=()), Tally(), 0, 0, 0, "")


def _parts(connection: Connection, database: Database, slot: int, conversation_id: str) -> tuple[str, list[str]]:
    found = connection.execute(BODY, (database.owner, slot)).fetchone()
    if found is None:
        raise ConversationNotFoundError(conversation_id, database.place)
    return found[0], found[1]
