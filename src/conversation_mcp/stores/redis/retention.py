"""Ages of what is kept, in a hash that is not forgotten."""

from collections.abc import Mapping

from conversation_mcp.owners import LOCAL
from conversation_mcp.stores.redis.keyspace import AGES, Keyspace
from conversation_mcp.stores.retention import Retention


class RetentionHash:
    """A field for each owner; satisfies Retention."""

    def __init__(self, url: str) -> None:
        self._keyspace = Keyspace(url, LOCAL)

    def ages(self) -> Mapping[str, str]:
        """Read the hash."""
        found: dict[bytes, bytes] = self._keyspace.command("HGETALL", AGES)
        return {owner.decode(): age.decode() for owner, age in found.items()}

    def put(self, owner: str, age: str | None) -> None:
        """Write or delete the field of the owner."""
        if age is None:
            self._keyspace.command("HDEL", AGES, owner)
        else:
            self._keyspace.command("HSET", AGES, owner, age)


def build(url: str) -> Retention:
    """Return the ages of the owners on the server."""
    return RetentionHash(url)
