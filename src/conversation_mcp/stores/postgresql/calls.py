"""The register of calls, in tables of its own; the name of a call is in the hands of whoever has its lease."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from conversation_mcp.cancellation import in_thread
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.ears import Ear
from conversation_mcp.stores.leases import HeldName, turn_of
from conversation_mcp.stores.news import OwnerNews
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.leases import TAKE_ANY, LeaseRows

FORGET_AFTER = timedelta(days=1)
NO_CALL = Call(ConversationId(""), "")
FIND = "SELECT conversation_id, started_at, is_told FROM calls WHERE owner = %s AND key = %s AND noted_at >= %s"
CLAIM = """
    INSERT INTO calls AS known (owner, key, conversation_id, started_at, is_told, noted_at)
    SELECT %s, %s, %s, %s, %s, %s {condition}
    ON CONFLICT (owner, key) DO UPDATE SET conversation_id = excluded.conversation_id,
        started_at = excluded.started_at, is_told = excluded.is_told, noted_at = excluded.noted_at {where}
"""
CLAIM_ANY = CLAIM.format(condition="", where="")
PLANNED = "FROM taken WHERE %s AND NOT EXISTS (SELECT FROM found)"
TAKE_NAME = f"""
    WITH taken AS ({TAKE_ANY}),
    found AS ({FIND}),
    claimed AS (
        {CLAIM.format(condition=PLANNED, where="WHERE known.noted_at < %s")} RETURNING 1
    )
    SELECT (SELECT fence FROM taken), EXISTS (SELECT FROM claimed), found.*
    FROM (VALUES (1)) AS one LEFT JOIN found ON true
"""
"""What is found is what there was before a holder who has just ended was waited for; a newer claim is not replaced."""
STOP = """
    INSERT INTO stops (owner, conversation_id, started_at, noted_at) VALUES (%s, %s, %s, %s)
    ON CONFLICT (owner, conversation_id) DO UPDATE SET started_at = excluded.started_at, noted_at = excluded.noted_at
"""
HEAR = "SELECT conversation_id, started_at, noted_at FROM stops WHERE owner = %s AND conversation_id = ANY(%s)"
HEARD = """
    DELETE FROM stops WHERE owner = %s
        AND (conversation_id, started_at, noted_at) IN (SELECT * FROM unnest(%s::text[], %s::text[], %s::timestamptz[]))
"""


class CallRows:
    """Calls whose result was not delivered, by name; satisfies CallRegister."""

    def __init__(self, database: Database, leases: LeaseRows, now: Callable[[], datetime], news: OwnerNews) -> None:
        self._database = database
        self._leases = leases
        self._now = now
        self._news = news

    async def take(self, key: str, planned: Call | None = None) -> tuple[HeldName | None, Call | None]:
        """Take the lease of the name, then look what it stands for, in one transaction."""
        return await in_thread(self._take, key, planned)

    async def find(self, key: str) -> Call | None:
        """Return the call of that name, unless it was forgotten or is more than a day old."""
        values = key, self._now() - FORGET_AFTER
        return _call_of(await in_thread(self._database.first, FIND, *values))

    async def claim(self, key: str, call: Call) -> None:
        """Record what the name stands for."""
        await self._execute(CLAIM_ANY, *self._claimed(key, call))

    async def forget(self, key: str, call: Call) -> None:
        """Free the name if it still stands for that call.

        If a crash of the database undoes that, the same call gets the same answer again.
        """
        sql = "DELETE FROM calls WHERE owner = %s AND key = %s AND conversation_id = %s AND started_at = %s"
        await self._execute(sql, key, call.conversation_id, call.started_at, is_durable=False)

    async def ask_to_stop(self, call: Call) -> None:
        """Leave a row for the process that runs the turn."""
        await self._execute(STOP, check_id(call.conversation_id), call.started_at, self._now())
        self._news.tell(turn_of(call.conversation_id))

    async def asked_to_stop(self, calls: Collection[Call]) -> list[Call]:
        """Return the turns for which rows were left, and remove whatever was left.

        Where nothing was, which is nearly always, it is one journey that only reads.
        """
        ids = [check_id(call.conversation_id) for call in calls]
        found = await in_thread(self._database.rows, HEAR, ids)
        if found:
            await self._execute(HEARD, *map(list, zip(*found, strict=True)), is_durable=False)
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

    async def _execute(self, sql: str, *values: object, is_durable: bool = True) -> None:
        await in_thread(partial(self._database.do, sql, (self._database.owner, *values), is_durable=is_durable))

    def _take(self, key: str, planned: Call | None) -> tuple[HeldName | None, Call | None]:
        name, oldest = _name_of(key), self._now() - FORGET_AFTER
        claim = self._database.owner, *self._claimed(key, planned or NO_CALL), planned is not None, oldest
        values = *self._leases.attempt(name), self._database.owner, key, oldest, *claim
        [(fence, is_claimed, *row)] = self._database.do(TAKE_NAME, values)
        lease, found = self._leases.noted(name, fence), _call_of(row) if row[0] else None
        if found is None and not is_claimed:
            found = _call_of(self._database.first(FIND, key, oldest))
        return HeldName(lease) if lease else None, None if lease and found == planned else found

    def _claimed(self, key: str, call: Call) -> tuple[object, ...]:
        return key, call.conversation_id, call.started_at, call.is_told, self._now()


def _call_of(found: Sequence[Any] | None) -> Call | None:
    return Call(ConversationId(found[0]), found[1], found[2]) if found else None


def _name_of(key: str) -> str:
    return f"call:{key}"
