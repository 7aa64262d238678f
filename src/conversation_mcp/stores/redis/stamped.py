"""The conversations on the server as the tables of the index see them; their versions are their stamps."""

from collections.abc import Iterable, Iterator
from typing import cast

from conversation_mcp.errors import ConversationCorruptedError, ConversationMCPError
from conversation_mcp.records.facts import describe, text_in
from conversation_mcp.records.found import Indexed
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.plain import read_without_memories
from conversation_mcp.searching.stamped import UNTRUSTED, Seen, batched
from conversation_mcp.stores.leases import turn_of
from conversation_mcp.stores.redis.keyspace import Keyspace
from conversation_mcp.stores.redis.leases import is_held


class VersionedConversations:
    """The conversations of an owner; satisfies StampedConversations."""

    def __init__(self, keyspace: Keyspace) -> None:
        self._keyspace = keyspace

    def batches(self) -> Iterator[dict[str, int]]:
        """Yield the versions of all, in the order of their ids."""
        yield from map(dict, batched(sorted(self.versions())))

    def by_age(self) -> "VersionedConversations":
        """Return the same: they are in that order."""
        return self

    def versions(self) -> list[tuple[str, int]]:
        """Return the ids and versions of all."""
        found = iter(self._keyspace.run("listed", []))
        return [(name.decode(), int(float(version))) for name, version in zip(found, found, strict=True)]

    def stamp(self, thing: int) -> int:
        """Return the version itself."""
        return thing

    def stamps(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the versions of those that exist."""
        names = list(ids)
        found = self._keyspace.commands([("HGET", self._keyspace.conversation(name), "version") for name in names])
        return {name: int(version) for name, version in zip(names, found, strict=True) if version is not None}

    def is_gone(self, key: str) -> bool:
        """Tell whether nothing is written under the id now."""
        return not self.stamps([key])

    def read(self, key: str, thing: int = UNTRUSTED) -> Seen[Indexed | str] | None:
        """Return what to index of the conversation, or why it cannot be read; None if there is none."""
        del thing
        body, version = self._keyspace.command("HMGET", self._keyspace.conversation(key), "body", "version")
        if body is None:
            return None
        try:
            described = describe(body, self._keyspace.location(key), cast("ConversationId", key))
        except ConversationCorruptedError as error:
            return Seen(int(version), error.message)
        return Seen(int(version), described)

    def text(self, key: str, number: int) -> str:
        """Read the conversation without its memories."""
        body = self._keyspace.command("HGET", self._keyspace.conversation(key), "body")
        try:
            data = read_without_memories(body or b"", self._keyspace.location(key), cast("ConversationId", key))
        except ConversationCorruptedError:
            return ""
        return text_in(data, number)

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether a live process has the lease of its turn."""
        try:
            return is_held(self._keyspace, turn_of(conversation_id))
        except ConversationMCPError:
            return False
