"""The hashes of conversations: reserved, created, loaded and updated, each at once."""

import json
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

from conversation_mcp.errors import ConversationNotFoundError, FilesystemError, TurnLostError
from conversation_mcp.records.codec import decode, settle
from conversation_mcp.records.ids import milliseconds_of
from conversation_mcp.records.models import Conversation, ConversationId, iso, parse_time
from conversation_mcp.records.origins import OWN, mark_of
from conversation_mcp.stores.base import Change
from conversation_mcp.stores.leases import turn_of
from conversation_mcp.stores.redis.keyspace import Keyspace
from conversation_mcp.stores.redis.leases import LeaseKeys

NEW = ""
"""The version of what is reserved and was never written."""


class StoredHashes:
    """Reads and writes one conversation at a time; blocks."""

    def __init__(self, keyspace: Keyspace, leases: LeaseKeys, now: Callable[[], datetime]) -> None:
        self._keyspace = keyspace
        self._leases = leases
        self._now = now

    def reserve(self, conversation_id: ConversationId) -> bool:
        """Make an empty hash; return False if the id is taken."""
        key, changed = self._keyspace.conversation(conversation_id), milliseconds_of(self._now())
        return bool(self._keyspace.run("reserve", [key], conversation_id, changed))

    def unreserve(self, conversation_id: ConversationId) -> None:
        """Remove the hash if nothing was written into it."""
        self._keyspace.run("unreserve", [self._keyspace.conversation(conversation_id)], conversation_id)

    def create(self, conversation: Conversation) -> None:
        """Write into the empty hash."""
        conversation_id = ConversationId(conversation.conversation_id)
        done = self._write(NEW, *settle(conversation))
        if done != b"done":
            problem = "the id was not reserved" if done == b"gone" else "there is a conversation already"
            raise FilesystemError(self._keyspace.location(conversation_id), problem, conversation_id)

    def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the conversation."""
        return self._load(conversation_id)[0]

    def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Apply the change to what is stored now, again if another process wrote meanwhile."""
        while True:  # somebody else has written each time that it is done again, so somebody always gets on
            before, version = self._load(conversation_id)
            now = iso(self._now())
            latest = max(now, before.updated_at, key=parse_time)
            after, body = settle(change(before, now).changed(conversation_id=conversation_id, updated_at=latest))
            done = self._write(version, after, body)
            if done == b"done":
                return after
            if done == b"gone":
                raise ConversationNotFoundError(conversation_id, self._keyspace.place)

    def _load(self, conversation_id: ConversationId) -> tuple[Conversation, str]:
        key = self._keyspace.conversation(conversation_id)
        body, version = self._keyspace.command("HMGET", key, "body", "version")
        if body is None:
            raise ConversationNotFoundError(conversation_id, self._keyspace.place)
        return decode(body, self._keyspace.location(conversation_id), conversation_id), version.decode()

    def _write(self, expected: str, conversation: Conversation, body: bytes) -> bytes:
        conversation_id, turn = conversation.conversation_id, turn_of(conversation.conversation_id)
        imported = conversation.data().get("imported")
        origin = (imported["from"], imported["id"]) if imported else (OWN, conversation_id)
        fields = {
            "body": body,
            "changed": milliseconds_of(self._now()),
            "mark": mark_of(origin),
            "origin": json.dumps(origin) if imported else "",
        }
        done = self._keyspace.run(
            "write",
            [self._keyspace.conversation(conversation_id), self._leases.key(turn)],
            conversation_id,
            expected,
            self._leases.fence_of(turn),
            uuid4().hex,
            *(part for field in fields.items() for part in field),
        )
        if done == b"lost":
            raise TurnLostError(self._keyspace.location(conversation_id), conversation_id)
        return done
