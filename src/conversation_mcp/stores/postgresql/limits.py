"""OwnerCounts as rows of buckets, and as leases of seats."""

from anyio import to_thread

from conversation_mcp.cancellation import finish
from conversation_mcp.limits.base import Rate
from conversation_mcp.limits.bucket import Bucket, name_of, taken
from conversation_mcp.stores.leases import HeldSeat
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.leases import LeaseRows

ALONE = "SELECT pg_advisory_xact_lock(hashtextextended(%s || ' ' || %s, 0))"
NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"
"""The clocks of machines differ, and the one that is ahead would fill the bucket for all."""
FIND = "SELECT tokens, at FROM buckets WHERE owner = %s AND name = %s"
PUT = """
    INSERT INTO buckets (owner, name, tokens, at) VALUES (%s, %s, %s, %s)
    ON CONFLICT (owner, name) DO UPDATE SET tokens = excluded.tokens, at = excluded.at
"""


class LimitRows:
    """A row for each bucket and a lease for each seat; satisfies OwnerCounts."""

    def __init__(self, database: Database, leases: LeaseRows) -> None:
        self._database = database
        self._leases = leases

    async def take(self, owner: str, kind: str, rate: Rate, count: int = 1) -> float:
        """Change the row of the bucket while nobody else does."""
        name = name_of(owner, kind)
        return await self._database.ask(lambda connection: self._take(connection, name, rate, count))

    async def sit(self, owner: str, kind: str, most: int) -> HeldSeat | None:
        """Take the first lease that is free."""
        return await finish(to_thread.run_sync(self._sit, name_of(owner, kind), most))

    def _take(self, connection: Connection, name: str, rate: Rate, count: int) -> float:
        key = self._database.owner, name
        connection.execute(ALONE, key)
        found, now = connection.execute(FIND, key).fetchone(), connection.execute(NOW).fetchone()
        bucket, wait_seconds = taken(Bucket(*found) if found else None, rate, now[0] if now else 0.0, count)
        if not wait_seconds:
            connection.execute(PUT, (*key, bucket.tokens, bucket.at))
        return wait_seconds

    def _sit(self, name: str, most: int) -> HeldSeat | None:
        for number in range(most):
            lease = self._database.run(
                lambda connection, number=number: self._leases.take(connection, f"seat:{name}-{number}")
            )
            if self._leases.keep(lease):
                return HeldSeat(lease) if lease else None
        return None
