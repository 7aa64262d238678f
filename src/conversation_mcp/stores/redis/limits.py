"""OwnerCounts as values of buckets, and as leases of seats."""

import json

from anyio import to_thread

from conversation_mcp.cancellation import in_thread
from conversation_mcp.limits.base import Rate
from conversation_mcp.limits.bucket import Bucket, name_of, taken
from conversation_mcp.stores.leases import HeldSeat
from conversation_mcp.stores.redis.keyspace import Keyspace
from conversation_mcp.stores.redis.leases import LeaseKeys


class LimitKeys:
    """A value for each bucket, by the clock of the server, and a lease for each seat; satisfies OwnerCounts."""

    def __init__(self, keyspace: Keyspace, leases: LeaseKeys) -> None:
        self._keyspace = keyspace
        self._leases = leases

    async def take(self, owner: str, kind: str, rate: Rate, count: int = 1) -> float:
        """Change the value of the bucket, again if somebody else has changed it meanwhile."""
        return await to_thread.run_sync(self._take, name_of(owner, kind), rate, count)

    async def sit(self, owner: str, kind: str, most: int) -> HeldSeat | None:
        """Take the first lease that is free."""
        return await in_thread(self._sit, name_of(owner, kind), most)

    def _take(self, name: str, rate: Rate, count: int) -> float:
        key = self._keyspace.key("bucket", name)
        milliseconds = round(rate.per_seconds * 1000) + 1000  # a bucket that was full again by then is as good as none
        while True:
            (seconds, microseconds), before = self._keyspace.commands([("TIME",), ("GET", key)])
            bucket = Bucket(*json.loads(before)) if before else None
            bucket, wait_seconds = taken(bucket, rate, int(seconds) + int(microseconds) / 1e6, count)
            if wait_seconds or self._keyspace.run("swap", [key], before or "", json.dumps(bucket), milliseconds):
                return wait_seconds

    def _sit(self, name: str, most: int) -> HeldSeat | None:
        for number in range(most):
            if lease := self._leases.take(f"seat:{name}-{number}"):
                return HeldSeat(lease)
        return None
