"""The trash: hashes that were renamed, and that the server removes in their time like all others."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta

from anyio import to_thread

from conversation_mcp.cancellation import in_thread
from conversation_mcp.errors import ConversationNotFoundError, IdTakenError
from conversation_mcp.records.codec import decode
from conversation_mcp.records.ids import EPOCH, check_id, milliseconds_of
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.stores.base import Trashed
from conversation_mcp.stores.redis.contents import ContentFields
from conversation_mcp.stores.redis.keyspace import Keyspace


class TrashHashes:
    """Deleted conversations; satisfies Trash."""

    def __init__(self, keyspace: Keyspace, now: Callable[[], datetime]) -> None:
        self._keyspace = keyspace
        self._now = now

    async def put(self, conversation_id: ConversationId, at: datetime | None = None) -> Trashed:
        """Rename the hash after the moment, or after the next one at which none of that id was put here."""
        return await in_thread(self._put, check_id(conversation_id), at or self._now())

    async def entries(self) -> tuple[Trashed, ...]:
        """Return what is here."""
        names = await to_thread.run_sync(names_in_trash, self._keyspace)
        latest_first = sorted(names, key=lambda name: (int(name.partition(".")[2]), name), reverse=True)
        return tuple(self._trashed(name) for name in latest_first)

    async def load(self, trashed: Trashed) -> Conversation:
        """Read the conversation in the trash."""
        return await to_thread.run_sync(self._load, trashed)

    async def contents(self, trashed: Trashed, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Read them from the hash."""
        key = trashed_key(self._keyspace, _name(trashed))
        return await to_thread.run_sync(ContentFields(self._keyspace).of_key, key, hashes)

    async def restore(self, trashed: Trashed) -> None:
        """Rename the hash back."""
        await in_thread(self._restore, trashed)

    async def remove(self, trashed: Trashed) -> bool:
        """Delete the hash, and what names the conversation; its mark stays for the lifetime of a conversation."""
        await in_thread(self._remove, trashed)
        return True

    async def marks(self) -> frozenset[str]:
        """Return the marks of what is here, and those that stayed of what was removed."""
        return await to_thread.run_sync(self._marks)

    def _put(self, conversation_id: ConversationId, moment: datetime) -> Trashed:
        at = milliseconds_of(moment)
        while True:
            name = f"{conversation_id}.{at}"
            keys = [self._keyspace.conversation(conversation_id), trashed_key(self._keyspace, name)]
            done = self._keyspace.run("trash", keys, conversation_id, name)
            if done == b"gone":
                raise ConversationNotFoundError(conversation_id, self._keyspace.place)
            if done == b"done":
                return self._trashed(name)
            at += 1

    def _load(self, trashed: Trashed) -> Conversation:
        body = self._keyspace.command("HGET", trashed_key(self._keyspace, _name(trashed)), "body")
        if body is None:
            raise self._not_found(trashed)
        return decode(body, trashed.location, trashed.conversation_id)

    def _restore(self, trashed: Trashed) -> None:
        done = self._keyspace.run("restore", self._keys(trashed), trashed.conversation_id, _name(trashed))
        if done == b"gone":
            raise self._not_found(trashed)
        if done == b"taken":
            raise IdTakenError(self._keyspace.location(trashed.conversation_id), trashed.conversation_id)

    def _remove(self, trashed: Trashed) -> None:
        self._keyspace.run("remove", self._keys(trashed), trashed.conversation_id, _name(trashed))

    def _marks(self) -> frozenset[str]:
        kept = self._keyspace.run("current", [self._keyspace.key("marks")])
        names = names_in_trash(self._keyspace)
        here = self._keyspace.commands([("HGET", trashed_key(self._keyspace, name), "mark") for name in names])
        return frozenset(mark.decode() for mark in (*kept, *here) if mark)

    def _keys(self, trashed: Trashed) -> list[str]:
        return [
            self._keyspace.conversation(trashed.conversation_id),
            trashed_key(self._keyspace, _name(trashed)),
        ]

    def _trashed(self, name: str) -> Trashed:
        conversation_id, _, milliseconds = name.partition(".")
        deleted_at = iso(EPOCH + timedelta(milliseconds=int(milliseconds)))
        return Trashed(ConversationId(conversation_id), deleted_at, f"{self._keyspace.place}/.trash/{name}")

    def _not_found(self, trashed: Trashed) -> ConversationNotFoundError:
        return ConversationNotFoundError(trashed.conversation_id, f"{self._keyspace.place}/.trash")


def names_in_trash(keyspace: Keyspace) -> list[str]:
    """Return the names of what is in the trash."""
    return [name.decode() for name in keyspace.run("current", [keyspace.key("trash")])]


def trashed_key(keyspace: Keyspace, name: str) -> str:
    """Return the key of what has that name in the trash."""
    return keyspace.key("trashed", name)


def _name(trashed: Trashed) -> str:
    return trashed.location.rpartition("/")[2]
