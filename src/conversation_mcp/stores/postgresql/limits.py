"""OwnerCounts as rows of buckets, and as leases of seats."""

from anyio import to_thread

from conversation_mcp.cancellation import in_thread
from conversation_mcp.limits.base import Rate
from conversation_mcp.limits.bucket import Bucket, name_of, taken
from conversation_mcp.stores.leases import HeldSeat
from conversation_mcp.stores.postgresql.connections import Database
from conversation_mcp.stores.postgresql.leases import LeaseRows

FIND = """
    SELECT extract(epoch FROM clock_timestamp())::float8, tokens, at
    FROM (VALUES (%s, %s)) AS key (owner, name) LEFT JOIN buckets USING (owner, name)
"""
"""By the clock of the database: those of machines differ, and the one that is ahead would fill the bucket for all."""
ADD = "INSERT INTO buckets (owner, name, tokens, at) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING 1"
SWAP = "UPDATE buckets SET tokens = %s, at = %s WHERE owner = %s AND name = %s AND tokens = %s AND at = %s RETURNING 1"


class LimitRows:
    """A row for each bucket and a lease for each seat; satisfies OwnerCounts."""

    def __init__(self, database: Database, leases: LeaseRows) -> None:
        self._database = database
        self._leases = leases

    async def take(self, owner: str, kind: str, rate: Rate, count: int = 1) -> float:
        """Change the row of the bucket, again if somebody else has changed it meanwhile."""
        return await to_thread.run_sync(self._take, name_of(owner, kind), rate, count)

    async def sit(self, owner: str, kind: str, most: int) -> HeldSeat | None:
        """Take the first lease that is free."""
        return await in_thread(self._sit, name_of(owner, kind), most)

    def _take(self, name: str, rate: Rate, count: int) -> float:
        key = self._database.owner, name
        while True:
            [(now, *before)] = self._database.do(FIND, key)
            is_known = before[0] is not None
            bucket, wait_seconds = taken(Bucket(*before) if is_known else None, rate, now, count)
            after = bucket.tokens, bucket.at
            if wait_seconds or (
                self._database.do(SWAP, (*after, *key, *before)) if is_known else self._database.do(ADD, (*key, *after))
            ):
                return wait_seconds

    def _sit(self, name: str, most: int) -> HeldSeat | None:
        for number in range(most):
            if lease := self._leases.take(f"seat:{name}-{number}"):
                return HeldSeat(lease)
        return None
