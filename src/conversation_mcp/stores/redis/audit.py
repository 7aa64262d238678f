"""The audit trail as a list, which is not forgotten."""

from collections.abc import Callable, Iterator
from datetime import datetime

from conversation_mcp.owners import LOCAL
from conversation_mcp.records.audit import AuditEvent, line_after
from conversation_mcp.records.models import iso
from conversation_mcp.stores.audit import AuditTrail
from conversation_mcp.stores.redis.keyspace import PREFIX, Keyspace

KEY = f"{PREFIX}:audit"
"""Beside the keys of owners, so that it stays when one of them is deleted."""
READ_AT_ONCE = 1_000


class AuditList:
    """An element for each event; satisfies AuditTrail."""

    def __init__(self, url: str, now: Callable[[], datetime]) -> None:
        self._keyspace = Keyspace(url, LOCAL)
        self._now = now

    @property
    def place(self) -> str:
        """The address of the server, without user and password."""
        return self._keyspace.place

    def add(self, event: AuditEvent, *, is_durable: bool = True) -> None:
        """Add the line that follows the last one, again if somebody else has added one meanwhile."""
        del is_durable  # it is up to the server
        while True:
            last: bytes | None = self._keyspace.command("LINDEX", KEY, -1)
            if self._keyspace.run("append", [KEY], last or b"", line_after(last, event, iso(self._now()))):
                return

    def lines(self) -> Iterator[bytes]:
        """Read the list, some of it at a time."""
        start = 0
        while found := self._keyspace.command("LRANGE", KEY, start, start + READ_AT_ONCE - 1):
            yield from found
            start += len(found)


def build(url: str, now: Callable[[], datetime]) -> AuditTrail:
    """Make the audit trail of the server of that URL."""
    return AuditList(url, now)
