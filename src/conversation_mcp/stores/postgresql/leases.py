"""The leases of a database: rows that name their fence."""

from collections.abc import Collection

from conversation_mcp.errors import TurnLostError
from conversation_mcp.stores.leases import LEASE_SECONDS, HeldLeases, Lease
from conversation_mcp.stores.news import OwnerNews
from conversation_mcp.stores.postgresql.connections import Connection, Database

TAKE = """
    INSERT INTO leases AS held (owner, name, fence, expires_at)
    VALUES (%s, %s, nextval('fences'), clock_timestamp() + make_interval(secs => %s))
    ON CONFLICT (owner, name) DO UPDATE SET fence = excluded.fence, expires_at = excluded.expires_at
    WHERE held.expires_at < clock_timestamp() RETURNING fence
"""
RENEW = """
    UPDATE leases SET expires_at = clock_timestamp() + make_interval(secs => %s) WHERE owner = %s AND fence = ANY(%s)
"""
FREE = "DELETE FROM leases WHERE owner = %s AND fence = %s"
IS_HELD = "SELECT 1 FROM leases WHERE owner = %s AND name = %s AND expires_at > clock_timestamp()"
FENCE = "SELECT fence FROM leases WHERE owner = %s AND name = %s FOR SHARE"


class LeaseRows(HeldLeases):
    """The leases that this process holds in the database."""

    def __init__(self, database: Database, news: OwnerNews) -> None:
        super().__init__()
        self._database = database
        self._news = news

    def take(self, connection: Connection, name: str) -> Lease | None:
        """Take the lease if nobody has it or its holder let it lapse; `keep` it once the transaction is committed."""
        found = connection.execute(TAKE, (self._database.owner, name, LEASE_SECONDS)).fetchone()
        return Lease(self, name, found[0]) if found else None

    def renew(self, leases: Collection[Lease]) -> None:
        """Update their rows."""
        values = LEASE_SECONDS, self._database.owner, [lease.fence for lease in leases]
        self._database.do(RENEW, values, is_durable=False)

    def free(self, lease: Lease) -> None:
        """Delete its row, and tell.

        If a crash of the database undoes that, the lease lapses: the holder writes nothing any more, and whatever was
        committed after it would have kept it.
        """
        values = self._database.owner, lease.fence
        self._database.do(FREE, values, is_durable=False)
        self._news.tell(lease.name)

    def require(self, connection: Connection, name: str, conversation_id: str) -> None:
        """Refuse the transaction if this process held the lease and somebody else has taken it since.

        Raises:
            TurnLostError: it was taken over.
        """
        lease = self.held(name)
        if lease is not None:
            found = connection.execute(FENCE, (self._database.owner, name)).fetchone()
            if found is None or found[0] != lease.fence:
                raise TurnLostError(self._database.location(conversation_id), conversation_id)


def is_held(database: Database, name: str) -> bool:
    """Tell whether a live process has the lease."""
    return database.first(IS_HELD, name) is not None
