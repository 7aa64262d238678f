"""The register of calls, in tables of its own; the name of a call is in the hands of whoever has its lease."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any

from anyio import to_thread

from conversation_mcp.cancellation import finish
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.ears import Ear
from conversation_mcp.stores.leases import HeldName, Lease, turn_of
from conversation_mcp.stores.news import OwnerNews
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.leases import LeaseRows

FORGET_AFTER = timedelta(days=1)
FIND = "SELECT conversation_id, started_at, is_told FROM calls WHERE owner = %s AND key = %s AND noted_at >= %s"
CLAIM = """
    INSERT INTO calls (owner, key, conversation_id, started_at, is_told, noted_at) VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (owner, key) DO UPDATE SET conversation_id = excluded.conversation_id,
        started_at = excluded.started_at, is_told = excluded.is_told, noted_at = excluded.noted_at
"""
STOP = """
    INSERT INTO stops (owner, conversation_id, started_at, noted_at) VALUES (%s, %s, %s, %s)
    ON CONFLICT (owner, conversation_id) DO UPDATE SET started_at = excluded.started_at, noted_at = excluded.noted_at
"""
HEAR = (
    "DELETE FROM stops WHERE owner = %s AND conversation_id = ANY(%s) RETURNING conversation_id, started_at, noted_at"
)


class CallRows:
    """Calls whose result was not delivered, by name; satisfies CallRegister."""

    def __init__(self, database: Database, leases: LeaseRows, now: Callable[[], datetime], news: OwnerNews) -> None:
        self._database = database
        self._leases = leases
        self._now = now
        self._news = news

    async def take(self, key: str, planned: Call | None = None) -> tuple[HeldName | None, Call | None]:
        """Take the lease of the name, then look what it stands for, in one transaction."""
        return await finish(to_thread.run_sync(self._take, key, planned))

    async def find(self, key: str) -> Call | None:
        """Return the call of that name, unless it was forgotten or is more than a day old."""
        values = key, self._now() - FORGET_AFTER
        return _call_of(await to_thread.run_sync(self._database.first, FIND, *values))

    async def claim(self, key: str, call: Call) -> None:
        """Record what the name stands for."""
        await self._execute(CLAIM, *self._claimed(key, call))

    async def forget(self, key: str, call: Call) -> None:
        """Free the name if it still stands for that call."""
        sql = "DELETE FROM calls WHERE owner = %s AND key = %s AND conversation_id = %s AND started_at = %s"
        await self._execute(sql, key, call.conversation_id, call.started_at)

    async def ask_to_stop(self, call: Call) -> None:
        """Leave a row for the process that runs the turn."""
        await self._execute(STOP, check_id(call.conversation_id), call.started_at, self._now())
        self._news.tell(turn_of(call.conversation_id))

    async def asked_to_stop(self, calls: Collection[Call]) -> list[Call]:
        """Return the turns for which rows were left, and remove whatever was left."""
        values = self._database.owner, [check_id(call.conversation_id) for call in calls]
        found = await self._database.ask(lambda connection: connection.execute(HEAR, values).fetchall())
        oldest = self._now() - FORGET_AFTER
        left = {(conversation_id, started_at) for conversation_id, started_at, noted_at in found if noted_at >= oldest}
        return [call for call in calls if (call.conversation_id, call.started_at) in left]

    def hear(self, key: str) -> AbstractContextManager[Ear]:
        """Hear of the end of the lease."""
        return self._news.hear(_name_of(key))

    def forget_all(self, connection: Connection, conversation_id: ConversationId) -> None:
        """Forget whatever names the conversation; blocks."""
        for table in ("calls", "stops"):
            sql = f"DELETE FROM {table} WHERE owner = %s AND conversation_id = %s"
            connection.execute(sql.encode(), (self._database.owner, conversation_id))

    def sweep(self, connection: Connection) -> None:
        """Forget what is a day old; blocks."""
        for table in ("calls", "stops"):
            sql = f"DELETE FROM {table} WHERE owner = %s AND noted_at < %s"
            connection.execute(sql.encode(), (self._database.owner, self._now() - FORGET_AFTER))

    async def _execute(self, sql: str, *values: object) -> None:
        await to_thread.run_sync(self._database.do, sql, (self._database.owner, *values))

    def _take(self, key: str, planned: Call | None) -> tuple[HeldName | None, Call | None]:
        def work(connection: Connection) -> tuple[Lease | None, Call | None]:
            lease, found = self._leases.take(connection, _name_of(key)), self._found(connection, key)
            if lease and found is None and planned is not None:
                self._claim(connection, key, planned)
            return lease, found

        lease, found = self._database.run(work)
        self._leases.keep(lease)
        return HeldName(lease) if lease else None, found

    def _found(self, connection: Connection, key: str) -> Call | None:
        values = self._database.owner, key, self._now() - FORGET_AFTER
        return _call_of(connection.execute(FIND, values).fetchone())

    def _claim(self, connection: Connection, key: str, call: Call) -> None:
        connection.execute(CLAIM, (self._database.owner, *self._claimed(key, call)))

    def _claimed(self, key: str, call: Call) -> tuple[object, ...]:
        return key, call.conversation_id, call.started_at, call.is_told, self._now()


def _call_of(found: tuple[Any, ...] | None) -> Call | None:
    return Call(ConversationId(found[0]), found[1], found[2]) if found else None


def _name_of(key: str) -> str:
    return f"call:{key}"
