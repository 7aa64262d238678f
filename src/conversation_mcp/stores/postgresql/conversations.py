"""The rows of conversations: reserved, created, loaded and updated, each in one transaction."""

from collections.abc import Callable
from datetime import datetime

from conversation_mcp.errors import ConversationNotFoundError, FilesystemError
from conversation_mcp.records.models import Conversation, ConversationId, iso, parse_time
from conversation_mcp.stores.base import Change
from conversation_mcp.stores.leases import turn_of
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.leases import LeaseRows
from conversation_mcp.stores.postgresql.memory import HeldConversations
from conversation_mcp.stores.postgresql.rows import LIVE, Held, empty, held, put

RESERVE = "INSERT INTO conversations (owner, id, changed_at) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING slot"
UNRESERVE = "DELETE FROM conversations WHERE owner = %s AND id = %s AND head IS NULL AND deleted_milliseconds IS NULL"
RESERVED = """
    SELECT slot, head IS NOT NULL FROM conversations WHERE owner = %s AND id = %s AND deleted_milliseconds IS NULL
    FOR UPDATE
"""
VERSION = f"SELECT slot, version FROM conversations WHERE {LIVE}"


class StoredRows:
    """Reads and writes one conversation at a time; blocks."""

    def __init__(self, database: Database, leases: LeaseRows, now: Callable[[], datetime]) -> None:
        self._database = database
        self._leases = leases
        self._now = now
        self._held = HeldConversations()

    def reserve(self, conversation_id: ConversationId) -> bool:
        """Insert an empty row; return False if the id is taken."""
        self._database.renumber()
        return self._database.first(RESERVE, conversation_id, self._now()) is not None

    def unreserve(self, conversation_id: ConversationId) -> None:
        """Remove the row if it is empty."""
        values = self._database.owner, conversation_id
        self._database.run(lambda connection: connection.execute(UNRESERVE, values))

    def create(self, conversation: Conversation) -> None:
        """Fill the empty row."""
        self._database.number()
        self._held.keep(self._database.run(lambda connection: self._create(connection, conversation)))

    def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the conversation, from memory if it has not changed."""
        found = self._database.run(lambda connection: self._load(connection, conversation_id))
        self._held.keep(found)
        return found.conversation

    def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Apply the change to what is stored now."""
        self._database.number()
        written = self._database.run(lambda connection: self._update(connection, conversation_id, change))
        self._held.keep(written)
        return written.conversation

    def _create(self, connection: Connection, conversation: Conversation) -> Held:
        conversation_id = ConversationId(conversation.conversation_id)
        found = connection.execute(RESERVED, (self._database.owner, conversation_id)).fetchone()
        if found is None or found[1]:
            problem = "the id was not reserved" if found is None else "there is a conversation already"
            raise FilesystemError(self._database.location(conversation_id), problem, conversation_id)
        return put(connection, self._database, empty(found[0], conversation), conversation, self._now())

    def _load(self, connection: Connection, conversation_id: ConversationId, locking: str = "") -> Held:
        sql = f"{VERSION}{locking}".encode()
        found = connection.execute(sql, (self._database.owner, conversation_id)).fetchone()
        if found is None:
            raise ConversationNotFoundError(conversation_id, self._database.place)
        slot, version = found
        return self._held.get(slot, version) or held(connection, self._database, slot, version, conversation_id)

    def _update(self, connection: Connection, conversation_id: ConversationId, change: Change) -> Held:
        self._leases.require(connection, turn_of(conversation_id), conversation_id)
        before = self._load(connection, conversation_id, " FOR UPDATE")
        moment = self._now()
        now = iso(moment)
        latest = max(now, before.conversation.updated_at, key=parse_time)
        after = change(before.conversation, now).changed(conversation_id=conversation_id, updated_at=latest)
        return put(connection, self._database, before, after, moment)
