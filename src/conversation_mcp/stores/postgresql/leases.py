"""The leases of a database: rows that name their fence."""

from collections.abc import Collection
from uuid import uuid4

from conversation_mcp.errors import ConversationNotFoundError, TurnLostError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.leases import LEASE_SECONDS, HeldLeases, Lease, turn_of
from conversation_mcp.stores.news import OwnerNews
from conversation_mcp.stores.postgresql.connections import Connection, Database

TAKE = """
    INSERT INTO leases AS held (owner, name, fence, expires_at, attempt)
    SELECT %s, %s, nextval('fences'), clock_timestamp() + make_interval(secs => %s), %s {condition}
    ON CONFLICT (owner, name)
    DO UPDATE SET fence = excluded.fence, expires_at = excluded.expires_at, attempt = excluded.attempt
    WHERE held.expires_at < clock_timestamp() OR held.attempt = excluded.attempt RETURNING fence
"""
TAKE_ANY = TAKE.format(condition="")
TAKE_TURN = f"""
    WITH known AS (SELECT slot FROM conversations WHERE owner = %s AND id = %s AND deleted_milliseconds IS NULL),
    taken AS ({TAKE.format(condition="FROM known")})
    SELECT EXISTS (SELECT FROM known), (SELECT fence FROM taken)
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

    def take(self, name: str) -> Lease | None:
        """Take the lease if nobody has it or its holder let it lapse, and renew it from now on."""
        found = self._database.do(TAKE_ANY, self.attempt(name))
        return self.noted(name, found[0][0]) if found else None

    def take_turn(self, conversation_id: ConversationId) -> Lease | None:
        """Take the lease of a turn.

        Raises:
            ConversationNotFoundError: there is no such conversation, or none any more.
        """
        name = turn_of(conversation_id)
        values = self._database.owner, conversation_id, *self.attempt(name)
        [(is_known, fence)] = self._database.do(TAKE_TURN, values)
        if not is_known:
            raise ConversationNotFoundError(conversation_id, self._database.place)
        return self.noted(name, fence)

    def attempt(self, name: str) -> tuple[object, ...]:
        """Return the values of TAKE; whoever repeats them gets the lease again, so that a lost answer costs nothing."""
        return self._database.owner, name, LEASE_SECONDS, uuid4().hex

    def noted(self, name: str, fence: int | None) -> Lease | None:
        """Renew a lease from now on that was taken with this fence; None if it was not taken."""
        return None if fence is None else self.keep(Lease(self, name, fence))

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
