"""The audit trail as rows, which only its own transactions see and which no statement changes."""

from collections.abc import Callable, Iterator
from datetime import datetime

from conversation_mcp.records.audit import AuditEvent, line_after
from conversation_mcp.records.models import iso
from conversation_mcp.stores.audit import AuditTrail
from conversation_mcp.stores.postgresql.connections import Connection, Database, place_of

TRAIL = " audit"
"""In place of an owner, whose name never begins with a space."""
READ_AT_ONCE = 1_000
ALONE = "SELECT pg_advisory_xact_lock(hashtext('conversation_mcp audit')), set_config('synchronous_commit', %s, true)"
LAST = "SELECT number, line FROM audit_lines ORDER BY number DESC LIMIT 1"
ADD = "INSERT INTO audit_lines (number, line) VALUES (%s, %s)"
LINES = "SELECT number, line FROM audit_lines WHERE number > %s ORDER BY number LIMIT %s"


class AuditRows:
    """A row for each event; satisfies AuditTrail."""

    def __init__(self, url: str, now: Callable[[], datetime]) -> None:
        self._database = Database(url, TRAIL)
        self._database.place = place_of(url)
        self._now = now

    @property
    def place(self) -> str:
        """The address of the database, without user and password."""
        return self._database.place

    def add(self, event: AuditEvent, *, is_durable: bool = True) -> None:
        """Read the last row and add the next one, while nobody else does."""

        def work(connection: Connection) -> None:
            connection.execute(ALONE, ("on" if is_durable else "off",))
            number, last = connection.execute(LAST).fetchone() or (0, None)
            line = line_after(last.encode() if last is not None else None, event, iso(self._now()))
            connection.execute(ADD, (number + 1, line.decode()))

        self._database.run(work)

    def lines(self) -> Iterator[bytes]:
        """Read the rows, some at a time."""
        after = 0
        while found := self._database.run(lambda each, after=after: _rows(each, after)):
            yield from (line.encode() for _, line in found)
            after = found[-1][0]


def _rows(connection: Connection, after: int) -> list[tuple[int, str]]:
    return connection.execute(LINES, (after, READ_AT_ONCE)).fetchall()


def build(url: str, now: Callable[[], datetime]) -> AuditTrail:
    """Make the audit trail of the database of that URL."""
    return AuditRows(url, now)
