"""The trash: rows that are marked with the time of their deletion and have no words."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta

import psycopg
from anyio import to_thread

from conversation_mcp.cancellation import finish, in_thread
from conversation_mcp.errors import ConversationNotFoundError, IdTakenError
from conversation_mcp.records.codec import decode
from conversation_mcp.records.facts import describe
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.ids import EPOCH, check_id, milliseconds_of
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.records.origins import OWN, mark_of
from conversation_mcp.stores.base import Trashed
from conversation_mcp.stores.postgresql.calls import CallRows
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.memories import add_memories
from conversation_mcp.stores.postgresql.rows import LIVE, body_of
from conversation_mcp.stores.postgresql.texts import put_texts

TAKEN = """
    SELECT deleted_milliseconds FROM conversations WHERE owner = %s AND id = %s AND deleted_milliseconds IS NOT NULL
"""
ENTRIES = """
    SELECT id, deleted_milliseconds FROM conversations WHERE owner = %s AND deleted_milliseconds IS NOT NULL
    ORDER BY deleted_milliseconds DESC, id DESC
"""
FIND = "SELECT slot FROM conversations WHERE owner = %s AND id = %s AND deleted_milliseconds = %s FOR UPDATE"
CONTENTS = """
    SELECT a.hash, a.content FROM attachments a JOIN conversations c USING (owner, slot)
    WHERE owner = %s AND c.id = %s AND c.deleted_milliseconds = %s AND a.hash = ANY(%s)
"""
RESTORE = "UPDATE conversations SET deleted_milliseconds = NULL WHERE owner = %s AND slot = %s"
REMOVE = "DELETE FROM conversations WHERE owner = %s AND slot = %s RETURNING imported_from, imported_id"
MARK = "INSERT INTO marks (owner, mark) VALUES (%s, %s) ON CONFLICT DO NOTHING"
MARKS = "SELECT mark FROM marks WHERE owner = %s"
ORIGINS = """
    SELECT id, imported_from, imported_id FROM conversations WHERE owner = %s AND deleted_milliseconds IS NOT NULL
"""


class TrashRows:
    """Deleted conversations; satisfies Trash."""

    def __init__(self, database: Database, calls: CallRows, now: Callable[[], datetime]) -> None:
        self._database = database
        self._calls = calls
        self._now = now

    async def put(self, conversation_id: ConversationId, at: datetime | None = None) -> Trashed:
        """Mark the conversation and remove its words."""
        check_id(conversation_id)
        return await finish(self._database.ask(lambda each: self._put(each, conversation_id, at)))

    async def entries(self) -> tuple[Trashed, ...]:
        """Return what is here."""
        found = await to_thread.run_sync(self._database.rows, ENTRIES)
        return tuple(self._trashed(*row) for row in found)

    async def load(self, trashed: Trashed) -> Conversation:
        """Read the conversation in the trash."""
        return await self._database.ask(lambda connection: self._load(connection, trashed))

    async def contents(self, trashed: Trashed, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Read the contents of the conversation in the trash."""
        values = trashed.conversation_id, _milliseconds(trashed), [*hashes]
        found = await to_thread.run_sync(self._database.rows, CONTENTS, *values)
        return {name: data for name, data in found if hash_of(data) == name}

    async def restore(self, trashed: Trashed) -> None:
        """Remove the mark, and index the words again."""
        await in_thread(self._restore, trashed)

    async def remove(self, trashed: Trashed) -> bool:
        """Delete the rows, and what names the conversation beside them; its mark always stays."""
        await finish(self._database.ask(lambda connection: self._remove(connection, trashed)))
        return True

    async def marks(self) -> frozenset[str]:
        """Return the marks of what is here, and those that stayed of what was removed."""
        return await self._database.ask(self._marks)

    def _put(self, connection: Connection, conversation_id: ConversationId, then: datetime | None) -> Trashed:
        owner = self._database.owner
        found = connection.execute(
            f"SELECT slot FROM conversations WHERE {LIVE} FOR UPDATE".encode(), (owner, conversation_id)
        ).fetchone()
        if found is None:
            raise ConversationNotFoundError(conversation_id, self._database.place)
        taken = {row[0] for row in connection.execute(TAKEN, (owner, conversation_id))}
        at = milliseconds_of(then) if then else max(milliseconds_of(self._now()), *(each + 1 for each in taken), 0)
        while at in taken:
            at += 1
        sql = "UPDATE conversations SET deleted_milliseconds = %s WHERE owner = %s AND slot = %s"
        connection.execute(sql, (at, owner, found[0]))
        for table in ("words", "memories", "vector_groups"):
            connection.execute(f"DELETE FROM {table} WHERE owner = %s AND slot = %s".encode(), (owner, found[0]))
        return self._trashed(conversation_id, at)

    def _load(self, connection: Connection, trashed: Trashed) -> Conversation:
        body = body_of(connection, self._database, self._slot(connection, trashed), trashed.conversation_id)
        return decode(body, trashed.location, trashed.conversation_id)

    def _restore(self, trashed: Trashed) -> None:
        try:
            self._database.run(lambda connection: self._restored(connection, trashed))
        except _TakenError:
            location = self._database.location(trashed.conversation_id)
            raise IdTakenError(location, trashed.conversation_id) from None

    def _restored(self, connection: Connection, trashed: Trashed) -> None:
        slot = self._slot(connection, trashed)
        try:
            connection.execute(RESTORE, (self._database.owner, slot))
        except psycopg.errors.UniqueViolation:
            raise _TakenError from None
        body = body_of(connection, self._database, slot, trashed.conversation_id)
        described = describe(body, trashed.location, trashed.conversation_id)
        put_texts(connection, self._database, slot, described.texts)
        add_memories(connection, self._database.owner, slot, described.memories)

    def _remove(self, connection: Connection, trashed: Trashed) -> None:
        owner = self._database.owner
        values = owner, trashed.conversation_id, _milliseconds(trashed)
        if slot := connection.execute(FIND, values).fetchone():
            origin = connection.execute(REMOVE, (owner, slot[0])).fetchone()
            connection.execute(MARK, (owner, _mark(trashed.conversation_id, *(origin or (None, None)))))
        live = connection.execute(
            f"SELECT 1 FROM conversations WHERE {LIVE}".encode(), (owner, trashed.conversation_id)
        ).fetchone()
        if live is None:
            self._calls.forget_all(connection, trashed.conversation_id)

    def _marks(self, connection: Connection) -> frozenset[str]:
        owner = self._database.owner
        kept = {mark for (mark,) in connection.execute(MARKS, (owner,))}
        return frozenset(kept | {_mark(*row) for row in connection.execute(ORIGINS, (owner,))})

    def _slot(self, connection: Connection, trashed: Trashed) -> int:
        values = self._database.owner, trashed.conversation_id, _milliseconds(trashed)
        if found := connection.execute(FIND, values).fetchone():
            return found[0]
        raise ConversationNotFoundError(trashed.conversation_id, f"{self._database.place}/.trash")

    def _trashed(self, conversation_id: ConversationId, milliseconds: int) -> Trashed:
        location = f"{self._database.place}/.trash/{conversation_id}.{milliseconds}"
        return Trashed(conversation_id, iso(EPOCH + timedelta(milliseconds=milliseconds)), location)


class _TakenError(Exception):
    """Another conversation has the id."""


def _milliseconds(trashed: Trashed) -> int:
    return int(trashed.location.rpartition(".")[2])


def _mark(conversation_id: str, imported_from: str | None, imported_id: str | None) -> str:
    return mark_of((imported_from, imported_id or "") if imported_from is not None else (OWN, conversation_id))
