"""The rows of conversations: reserved, created, loaded and updated, each in one transaction."""

from collections.abc import Callable
from datetime import datetime

from conversation_mcp.errors import ConversationNotFoundError, DatabaseError, FilesystemError, TurnLostError
from conversation_mcp.records.models import Conversation, ConversationId, iso, parse_time
from conversation_mcp.stores.base import Change
from conversation_mcp.stores.leases import Lease, turn_of
from conversation_mcp.stores.postgresql.connections import Connection, Database, InDoubtError
from conversation_mcp.stores.postgresql.leases import LeaseRows
from conversation_mcp.stores.postgresql.memories import put_difference
from conversation_mcp.stores.postgresql.memory import HeldConversations
from conversation_mcp.stores.postgresql.rows import LIVE, Held, empty, held
from conversation_mcp.stores.postgresql.writing import LOST, WRITE, WRITTEN, PlannedWrite, writing

RESERVE = """
    WITH known AS (INSERT INTO owners (owner) VALUES (%s) ON CONFLICT DO NOTHING)
    INSERT INTO conversations (owner, id, changed_at) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING slot
"""
UNRESERVE = "DELETE FROM conversations WHERE owner = %s AND id = %s AND head IS NULL AND deleted_milliseconds IS NULL"
RESERVED = """
    SELECT slot, head IS NOT NULL FROM conversations WHERE owner = %s AND id = %s AND deleted_milliseconds IS NULL
    FOR UPDATE
"""
VERSION = f"SELECT slot, version FROM conversations WHERE {LIVE}"
WRITTEN_HEAD = "SELECT head::text FROM conversations WHERE owner = %s AND slot = %s AND version = %s FOR UPDATE"
WRITTEN_BODIES = "SELECT number, body::text FROM messages WHERE owner = %s AND slot = %s AND number = ANY(%s)"


class StoredRows:
    """Reads and writes one conversation at a time; blocks."""

    def __init__(self, database: Database, leases: LeaseRows, now: Callable[[], datetime]) -> None:
        self._database = database
        self._leases = leases
        self._now = now
        self._held = HeldConversations()

    def reserve(self, conversation_id: ConversationId) -> bool:
        """Insert an empty row, and make the owner known; return False if the id is taken."""
        values = self._database.owner, self._database.owner, conversation_id, self._now()
        return self._database.run(lambda connection: connection.execute(RESERVE, values).fetchone()) is not None

    def unreserve(self, conversation_id: ConversationId) -> None:
        """Remove the row if it is empty."""
        self._database.do(UNRESERVE, (self._database.owner, conversation_id))

    def create(self, conversation: Conversation) -> None:
        """Fill the empty row."""
        self._held.keep(self._database.run(lambda connection: self._create(connection, conversation)))

    def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the conversation, from memory if it has not changed."""
        known = self._held.latest(conversation_id)
        if known is None or self._database.first(VERSION, conversation_id) != (known.slot, known.version):
            known = self._database.run(lambda connection: self._load(connection, conversation_id))
            self._held.keep(known)
        return known.conversation

    def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Apply the change to what is stored now."""
        known = self._held.latest(conversation_id)
        written = (known and self._write_at_once(known, change)) or self._database.run(
            lambda connection: self._update(connection, conversation_id, change)
        )
        self._held.keep(written)
        return written.conversation

    def _write_at_once(self, known: Held, change: Change) -> Held | None:
        """Change what was loaded last, without reading it again; return None if that is no longer what is stored."""
        try:
            made = self._made(known, change)
        except Exception:  # noqa: BLE001 -- it may be wrong only for what is not stored any more
            return None
        conversation_id = known.conversation.conversation_id
        lease = self._leases.held(turn_of(conversation_id))
        try:
            told = (
                self._database.call(WRITE, made.values_for(self._database, lease))
                if made.memories is None
                else self._database.run(lambda connection: self._put(connection, made, lease))
            )
        except InDoubtError as doubt:
            error = doubt.reported
            return self._database.run(lambda connection: self._found_out(connection, known, made, error))
        if told == (LOST,):
            raise TurnLostError(self._database.location(conversation_id), conversation_id)
        return made.new if told == (WRITTEN,) else None

    def _found_out(self, connection: Connection, known: Held, made: PlannedWrite, error: DatabaseError) -> Held | None:
        """Return what was written, or None if it was not and can be written now. Whoever wrote just that did the same.

        A statement that is still on its way changes nothing once another version is stored.
        """
        key = self._database.owner, known.slot
        if connection.execute(WRITTEN_HEAD, (*key, known.version)).fetchone():
            return None
        if connection.execute(WRITTEN_HEAD, (*key, made.new.version)).fetchone() != (made.head,):
            raise error
        bodies = connection.execute(WRITTEN_BODIES, (*key, list(made.bodies))).fetchall()
        if dict(bodies) != dict(made.bodies):
            raise error
        return made.new

    def _made(self, before: Held, change: Change) -> PlannedWrite:
        moment = self._now()
        now = iso(moment)
        latest = max(now, before.conversation.updated_at, key=parse_time)
        conversation_id = before.conversation.conversation_id
        after = change(before.conversation, now).changed(conversation_id=conversation_id, updated_at=latest)
        return writing(before, after, moment)

    def _put(self, connection: Connection, made: PlannedWrite, lease: Lease | None = None) -> tuple[str] | None:
        told = connection.execute(WRITE, made.values_for(self._database, lease)).fetchone()
        if told == (WRITTEN,) and made.memories is not None:
            put_difference(connection, self._database.owner, made.new.slot, made.memories)
        return told

    def _create(self, connection: Connection, conversation: Conversation) -> Held:
        conversation_id = ConversationId(conversation.conversation_id)
        found = connection.execute(RESERVED, (self._database.owner, conversation_id)).fetchone()
        if found is None or found[1]:
            problem = "the id was not reserved" if found is None else "there is a conversation already"
            raise FilesystemError(self._database.location(conversation_id), problem, conversation_id)
        made = writing(empty(found[0], conversation), conversation, self._now())
        self._put(connection, made)
        return made.new

    def _load(self, connection: Connection, conversation_id: ConversationId, locking: str = "") -> Held:
        sql = f"{VERSION}{locking}".encode()
        found = connection.execute(sql, (self._database.owner, conversation_id)).fetchone()
        if found is None:
            raise ConversationNotFoundError(conversation_id, self._database.place)
        slot, version = found
        return self._held.get(conversation_id, slot, version) or held(
            connection, self._database, slot, version, conversation_id
        )

    def _update(self, connection: Connection, conversation_id: ConversationId, change: Change) -> Held:
        self._leases.require(connection, turn_of(conversation_id), conversation_id)
        made = self._made(self._load(connection, conversation_id, " FOR UPDATE"), change)
        self._put(connection, made)
        return made.new
