"""The contents that questions name, in the hash of their conversation."""

from collections.abc import Collection, Mapping

from conversation_mcp.errors import ConversationNotFoundError
from conversation_mcp.records.hashes import HASH, hash_of
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.redis.keyspace import Keyspace

FILE, EXPORT = "file:", "export:"


class ContentFields:
    """Reads and writes them; satisfies KeptContents."""

    def __init__(self, keyspace: Keyspace) -> None:
        self._keyspace = keyspace

    def put(self, conversation_id: ConversationId, contents: Mapping[str, bytes]) -> None:
        """Add what is not there."""
        key = self._keyspace.conversation(check_id(conversation_id))
        for name, data in contents.items():
            if not HASH.fullmatch(name) or hash_of(data) != name:
                raise ValueError(name)
        fields = [part for name, data in contents.items() for part in (f"{FILE}{name}", data)]
        if self._keyspace.run("put", [key], "HSETNX", *fields) == b"gone":
            raise ConversationNotFoundError(conversation_id, self._keyspace.place)

    def get(self, conversation_id: ConversationId, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Return those that are there and have their hash."""
        return self.of_key(self._keyspace.conversation(check_id(conversation_id)), hashes)

    def of_key(self, key: str, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Return those in the hash of that key."""
        names = [name for name in hashes if HASH.fullmatch(name)]
        found: list[bytes | None] = []
        if names:
            found = self._keyspace.command("HMGET", key, *(f"{FILE}{name}" for name in names))
        pairs = zip(names, found, strict=True)
        return {name: data for name, data in pairs if data is not None and hash_of(data) == name}

    def remove(self, conversation_id: ConversationId, hashes: Collection[str]) -> None:
        """Delete them, and the exports."""
        key = self._keyspace.conversation(check_id(conversation_id))
        gone = {f"{FILE}{name}" for name in hashes}
        there = [each.decode() for each in self._keyspace.command("HKEYS", key)]
        if fields := [field for field in there if field.startswith(EXPORT) or field in gone]:
            self._keyspace.command("HDEL", key, *fields)

    def sizes(self, conversation_id: ConversationId) -> Mapping[str, int]:
        """Return the sizes of all."""
        key = self._keyspace.conversation(check_id(conversation_id))
        fields = [field for each in self._keyspace.command("HKEYS", key) if (field := each.decode()).startswith(FILE)]
        sizes = self._keyspace.commands([("HSTRLEN", key, field) for field in fields])
        return {field.removeprefix(FILE): size for field, size in zip(fields, sizes, strict=True)}
