"""The leases of a server: hashes of a fence and the time until which they hold."""

from collections.abc import Collection

from conversation_mcp.errors import ConversationNotFoundError
from conversation_mcp.stores.leases import LEASE_SECONDS, TURN, HeldLeases, Lease, turn_of
from conversation_mcp.stores.news import OwnerNews
from conversation_mcp.stores.redis.keyspace import Keyspace

LEASE_MILLISECONDS = round(LEASE_SECONDS * 1000)


class LeaseKeys(HeldLeases):
    """The leases that this process holds on the server."""

    def __init__(self, keyspace: Keyspace, news: OwnerNews) -> None:
        super().__init__()
        self._keyspace = keyspace
        self._news = news

    def take(self, name: str) -> Lease | None:
        """Take the lease if nobody has it or its holder let it lapse, and renew it from now on."""
        return self.noted(name, self._keyspace.run("take", [self.key(name)], LEASE_MILLISECONDS))

    def take_turn(self, conversation_id: str) -> Lease | None:
        """Take the lease of a turn.

        Raises:
            ConversationNotFoundError: there is no such conversation, or none any more.
        """
        name = turn_of(conversation_id)
        keys = [self.key(name), self._keyspace.conversation(conversation_id)]
        fence = self._keyspace.run("take", keys, LEASE_MILLISECONDS)
        if fence == b"gone":
            raise ConversationNotFoundError(conversation_id, self._keyspace.place)
        return self.noted(name, fence)

    def noted(self, name: str, fence: bytes | None) -> Lease | None:
        """Renew a lease from now on that was taken with this fence; None if it was not taken."""
        return self.keep(Lease(self, name, int(fence))) if fence else None

    def renew(self, leases: Collection[Lease]) -> None:
        """Have them lapse later, one after the other; a conversation lives on while its turn runs."""
        for lease in leases:
            kind, _, conversation_id = lease.name.partition(TURN)
            keys = [self.key(lease.name), *([] if kind else [self._keyspace.conversation(conversation_id)])]
            self._keyspace.run("renew", keys, lease.fence, LEASE_MILLISECONDS, conversation_id)

    def free(self, lease: Lease) -> None:
        """Delete the hash, and tell."""
        self._keyspace.run("release", [self.key(lease.name)], lease.fence)
        self._news.tell(lease.name)

    def fence_of(self, name: str) -> str:
        """Return the fence that a write names; nothing if this process did not take the lease."""
        lease = self.held(name)
        return str(lease.fence) if lease else ""

    def key(self, name: str) -> str:
        """Return the key of a lease."""
        return self._keyspace.key("lease", name)


def is_held(keyspace: Keyspace, name: str) -> bool:
    """Tell whether a live process has the lease."""
    return bool(keyspace.run("is_held", [keyspace.key("lease", name)]))
