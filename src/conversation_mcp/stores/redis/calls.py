"""The register of calls, in hashes of the owner; the name of a call is in the hands of whoever has its lease."""

import json
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

from conversation_mcp.cancellation import in_thread
from conversation_mcp.records.ids import check_id, milliseconds_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.ears import Ear
from conversation_mcp.stores.leases import HeldName, turn_of
from conversation_mcp.stores.news import OwnerNews
from conversation_mcp.stores.redis.keyspace import Keyspace
from conversation_mcp.stores.redis.leases import LEASE_MILLISECONDS, LeaseKeys

FORGET_AFTER = timedelta(days=1)


class CallHashes:
    """Calls whose result was not delivered, by name; satisfies CallRegister."""

    def __init__(self, keyspace: Keyspace, leases: LeaseKeys, now: Callable[[], datetime], news: OwnerNews) -> None:
        self._keyspace = keyspace
        self._leases = leases
        self._now = now
        self._news = news

    async def take(self, key: str, planned: Call | None = None) -> tuple[HeldName | None, Call | None]:
        """Take the lease of the name, then look what it stands for, at once."""
        return await in_thread(self._take, key, planned)

    async def find(self, key: str) -> Call | None:
        """Return the call of that name, unless it was forgotten or is more than a day old."""
        return _call(await self._keyspace.ask("find", [], key, self._oldest()))

    async def claim(self, key: str, call: Call) -> None:
        """Note what the name stands for."""
        await self._keyspace.ask("note", [self._keyspace.key("calls")], key, self._noted(call))

    async def forget(self, key: str, call: Call) -> None:
        """Free the name if it still stands for that call."""
        await self._keyspace.ask("forget", [], key, call.conversation_id, call.started_at)

    async def ask_to_stop(self, call: Call) -> None:
        """Leave word for the process that runs the turn."""
        stops = [self._keyspace.key("stops")]
        await self._keyspace.ask("note", stops, check_id(call.conversation_id), self._noted(call))
        self._news.tell(turn_of(call.conversation_id))

    def hear(self, key: str) -> AbstractContextManager[Ear]:
        """Hear of the end of the lease."""
        return self._news.hear(_name_of(key))

    async def asked_to_stop(self, calls: Collection[Call]) -> list[Call]:
        """Return the turns for which word was left, and remove whatever was left."""
        conversation_ids = [check_id(call.conversation_id) for call in calls]
        found = set(map(_call, await self._keyspace.ask("hear", [], self._oldest(), *conversation_ids)))
        return [call for call in calls if call in found]

    def sweep(self) -> None:
        """Forget what is a day old; blocks."""
        self._keyspace.run("sweep", [], self._oldest())

    def _take(self, key: str, planned: Call | None) -> tuple[HeldName | None, Call | None]:
        name, plan = _name_of(key), self._noted(planned) if planned else ""
        keys = [self._leases.key(name)]
        fence, found = self._keyspace.run("take_name", keys, key, LEASE_MILLISECONDS, self._oldest(), plan)
        lease = self._leases.noted(name, fence)
        return HeldName(lease) if lease else None, _call(found)

    def _oldest(self) -> int:
        return milliseconds_of(self._now() - FORGET_AFTER)

    def _noted(self, call: Call) -> str:
        noted = {"conversationId": call.conversation_id, "startedAt": call.started_at, "isTold": call.is_told}
        return json.dumps({**noted, "notedAt": milliseconds_of(self._now())})


def _call(noted: bytes | None) -> Call | None:
    if noted is None:
        return None
    data = json.loads(noted)
    return Call(ConversationId(data["conversationId"]), data["startedAt"], data["isTold"])


def _name_of(key: str) -> str:
    return f"call:{key}"
