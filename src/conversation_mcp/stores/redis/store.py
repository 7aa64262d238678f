"""The store that keeps conversations on a Redis or Valkey server, until their time is over."""

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from uuid import uuid4

from anyio import sleep, to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from conversation_mcp.cancellation import finish, in_thread
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.findings import Finding
from conversation_mcp.records.ids import check_id, milliseconds_of
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.origins import Origin
from conversation_mcp.stores.base import Change, OnWait, Report, Stamp
from conversation_mcp.stores.ears import Ear
from conversation_mcp.stores.headway import Headway
from conversation_mcp.stores.leases import import_lease, turn_of
from conversation_mcp.stores.lines import Lines
from conversation_mcp.stores.news import NewsHub, OwnerNews
from conversation_mcp.stores.redis.calls import CallHashes
from conversation_mcp.stores.redis.contents import EXPORT, FILE
from conversation_mcp.stores.redis.conversations import StoredHashes
from conversation_mcp.stores.redis.finder import KeyspaceFinder
from conversation_mcp.stores.redis.keyspace import AGES, Keyspace
from conversation_mcp.stores.redis.leases import LeaseKeys, is_held
from conversation_mcp.stores.redis.limits import LimitKeys
from conversation_mcp.stores.redis.persistence import risks
from conversation_mcp.stores.redis.removal import left_keys, remove_all, remove_trial
from conversation_mcp.stores.redis.trash import TrashHashes, names_in_trash, trashed_key
from conversation_mcp.stores.reserving import first_free
from conversation_mcp.stores.threaded_attachments import ThreadedAttachments
from conversation_mcp.stores.trial import tried
from conversation_mcp.stores.turn_locks import HeldTurn, TurnLocks
from conversation_mcp.text import storable

STRAY_AFTER = timedelta(hours=1)
SWEEP_SECONDS = 3600.0
TRIAL_LIFETIME = timedelta(minutes=1)
SIZES = ("body", FILE, EXPORT)

logger = logging.getLogger(__name__)


class KeyspaceStore:
    """Conversations of one owner on a server, shared with every process that uses it; satisfies Store."""

    def __init__(self, keyspace: Keyspace, now: Callable[[], datetime], hub: NewsHub | None = None) -> None:
        self._keyspace = keyspace
        self._now = now
        self._news = OwnerNews(hub, keyspace.owner)
        self._leases = LeaseKeys(keyspace, self._news)
        self._hashes = StoredHashes(keyspace, self._leases, now)
        self._calls = CallHashes(keyspace, self._leases, now, self._news)
        self._trash = TrashHashes(keyspace, now)
        self._finder = KeyspaceFinder(keyspace, now)
        self._writers = Lines()
        self._turns = TurnLocks(self._leases.take_turn, is_remote=True, hear=self.hear)

    @property
    def calls(self) -> CallHashes:
        """The register of calls, on the same server."""
        return self._calls

    @property
    def limits(self) -> LimitKeys:
        """The limits, on the same server."""
        return LimitKeys(self._keyspace, self._leases)

    @property
    def attachments(self) -> ThreadedAttachments:
        """The attachments, in the hashes of their conversations."""
        return ThreadedAttachments(self._finder.attachments)

    @property
    def trash(self) -> TrashHashes:
        """The trash, on the same server."""
        return self._trash

    @property
    def finder(self) -> KeyspaceFinder:
        """The finder, with an index of its own."""
        return self._finder

    def location(self, conversation_id: ConversationId) -> str:
        """Return the address of the conversation, which nothing but this store opens."""
        return self._keyspace.location(check_id(conversation_id))

    async def reserve(self, at: datetime | None = None) -> ConversationId:
        """Take the first free id from that millisecond on."""
        return await first_free(at or self._now(), self.reserve_this)

    async def reserve_this(self, conversation_id: ConversationId) -> bool:
        """Make an empty hash, unless there is one."""
        return await to_thread.run_sync(self._hashes.reserve, check_id(conversation_id))

    async def unreserve(self, conversation_id: ConversationId) -> None:
        """Remove the hash if it is empty."""
        await to_thread.run_sync(self._hashes.unreserve, conversation_id)

    async def create(self, conversation: Conversation) -> None:
        """Write into the reserved hash."""
        check_id(conversation.conversation_id)
        await in_thread(self._hashes.create, conversation)
        self._news.tell(turn_of(conversation.conversation_id))

    async def exists(self, conversation_id: ConversationId) -> bool:
        """Tell whether something is written in the hash."""
        return await self.stamp(check_id(conversation_id)) is not None

    async def load(self, conversation_id: ConversationId) -> Conversation:
        """Read what is stored now."""
        loaded = await in_thread(self._hashes.load, check_id(conversation_id))
        await checkpoint_if_cancelled()
        return loaded

    async def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Replace what is stored by what the change makes of it; updates of this process come in order."""
        updated = await finish(self._update(check_id(conversation_id), change))
        await checkpoint_if_cancelled()
        return updated

    async def stamp(self, conversation_id: ConversationId | None) -> Stamp:
        """Return the version; of all, their count and the number of the last one added or removed."""
        if conversation_id is None:
            count, changes, _ = await self._keyspace.ask("standing", [])
            return (count, int(changes or 0)) if count else None
        key = self._keyspace.conversation(check_id(conversation_id))
        version = await to_thread.run_sync(self._keyspace.command, "HGET", key, "version")
        return None if version is None else (int(version),)

    async def size_bytes(self) -> int:
        """Add up the sizes of conversations, contents and exports, those in the trash too."""
        return await to_thread.run_sync(self._size)

    async def imports(self) -> Mapping[Origin, ConversationId]:
        """Read the origins from the hashes."""
        return await to_thread.run_sync(self._imports)

    async def freshen(self, patience_seconds: float, report: Report) -> str | None:
        """Return at once: the finder is brought up to date when it is asked."""
        del patience_seconds, report

    async def run(self) -> None:
        """Say what the settings of the server can lose, and sweep now and then."""
        await to_thread.run_sync(self._warn)
        while True:
            await self.sweep()
            await sleep(SWEEP_SECONDS)

    async def sweep(self) -> None:
        """Free the ids that were reserved long ago and never used, and forget old calls."""
        try:
            await to_thread.run_sync(self._sweep)
        except ConversationMCPError:
            return  # whoever asks next is told

    async def acquire_turn(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> HeldTurn:
        """Wait for the lease of the turn; a wait of 0 s is a single try."""
        return await self._turns.acquire(check_id(conversation_id), wait_seconds, on_wait)

    async def remove_all(self) -> None:
        """Remove every key of the owner, and with them what the index of this process knows."""
        await in_thread(remove_all, self._keyspace)
        await to_thread.run_sync(self._finder.refresh, Headway())

    async def traces(self) -> list[str]:
        """Return the keys of the owner that are there."""
        return await to_thread.run_sync(left_keys, self._keyspace)

    def import_alone(self, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold the lease of imports."""
        return import_lease(self._leases.take, on_wait)

    async def keep_export(self, conversation_id: ConversationId, ending: str, text: str) -> str:
        """Keep the export in the hash, so that it goes with its conversation."""
        keys = [self._keyspace.conversation(check_id(conversation_id))]
        done = await finish(self._keyspace.ask("put", keys, "HSET", f"{EXPORT}{ending}", storable(text).encode()))
        if done == b"gone":
            raise ConversationNotFoundError(conversation_id, self._keyspace.place)
        return f"{self.location(conversation_id)}/export{ending}"

    async def try_out(self) -> Finding:
        """Try as an owner that nobody else is."""
        scratch = self._keyspace.as_owner(f"doctor-{uuid4().hex}", TRIAL_LIFETIME)
        try:
            try:
                return await tried(KeyspaceStore(scratch, self._now))
            finally:
                await in_thread(remove_trial, scratch)
        except ConversationMCPError as error:
            return Finding("fail", f"the store does not work: {error.message}")

    async def forgotten_after(self, conversation_id: ConversationId) -> datetime | None:
        """Return the end of its time, by the clock of this process."""
        key = self._keyspace.conversation(check_id(conversation_id))
        milliseconds = await to_thread.run_sync(self._keyspace.command, "PTTL", key)
        return self._now() + timedelta(milliseconds=milliseconds) if milliseconds >= 0 else None

    async def kept_for(self) -> str | None:
        """Read the field of the owner."""
        found = await to_thread.run_sync(self._keyspace.command, "HGET", AGES, self._keyspace.owner)
        return found.decode() if found else None

    def hear(self, conversation_id: ConversationId | None) -> AbstractContextManager[Ear]:
        """Hear of leases that end, and of what is written without one."""
        return self._news.hear(turn_of(check_id(conversation_id)) if conversation_id else None)

    async def turn_is_held(self, conversation_id: ConversationId) -> bool:
        """Tell whether a live process has the lease of its turn."""
        return await to_thread.run_sync(is_held, self._keyspace, turn_of(check_id(conversation_id)))

    async def _update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        async with self._writers.turn(conversation_id):
            updated = await to_thread.run_sync(self._hashes.update, conversation_id, change)
        if not self._leases.held(turn_of(conversation_id)):  # the end of a turn tells by itself
            self._news.tell(turn_of(conversation_id))
        return updated

    def _size(self) -> int:
        keyspace = self._keyspace
        keys = [keyspace.conversation(name) for name in self._finder.ids()]
        keys += [trashed_key(keyspace, name) for name in names_in_trash(keyspace)]
        fields = keyspace.commands([("HKEYS", key) for key in keys])
        return sum(
            keyspace.commands(
                [
                    ("HSTRLEN", key, field)
                    for key, names in zip(keys, fields, strict=True)
                    for field in names
                    if field.decode().startswith(SIZES)
                ]
            )
        )

    def _imports(self) -> Mapping[Origin, ConversationId]:
        names = self._finder.ids()
        found = self._keyspace.commands([("HGET", self._keyspace.conversation(name), "origin") for name in names])
        pairs = ((json.loads(origin), name) for name, origin in zip(names, found, strict=True) if origin)
        return {(source, origin): name for (source, origin), name in pairs}

    def _sweep(self) -> None:
        latest = milliseconds_of(self._now() - STRAY_AFTER)
        stray = self._keyspace.command("ZRANGEBYSCORE", self._keyspace.key("reserved"), "-inf", latest)
        for name in stray:
            self._hashes.unreserve(ConversationId(name.decode()))
        self._calls.sweep()

    def _warn(self) -> None:
        try:
            for risk in risks(self._keyspace):
                logger.warning("%s: %s", self._keyspace.place, risk)
        except ConversationMCPError:
            return  # whoever asks next is told


def build(
    url: str,
    now: Callable[[], datetime],
    owner: str,
    *,
    is_durable: bool = True,
    lifetime: timedelta,
    common: NewsHub | None = None,
) -> KeyspaceStore:
    """Make the store of the owner's part of the server; whether writes are durable is up to the server."""
    del is_durable
    return KeyspaceStore(Keyspace(url, owner, lifetime), now, common)
