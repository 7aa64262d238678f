"""The audit trail as a list, whose lines are kept longer than conversations, but not for ever: it is in memory."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import takewhile

from conversation_mcp.owners import LOCAL
from conversation_mcp.records.audit import AuditEvent, account, line_after
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import iso, parse_time
from conversation_mcp.stores.audit import AuditTrail
from conversation_mcp.stores.redis.keyspace import PREFIX, Keyspace
from conversation_mcp.text import counted

KEY = f"{PREFIX}:audit"
"""Beside the keys of owners, so that it stays when one of them is deleted."""
READ_AT_ONCE = 1_000
KEPT = timedelta(days=90)


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
        first, last = self._keyspace.commands([("LINDEX", KEY, 0), ("LINDEX", KEY, -1)])
        if first and self._is_old(first):
            self._cut(last)
            last = self._keyspace.command("LINDEX", KEY, -1)
        while not self._append(last, event):
            last = self._keyspace.command("LINDEX", KEY, -1)

    def lines(self) -> Iterator[bytes]:
        """Read the list, some of it at a time."""
        start = 0
        while found := self._keyspace.command("LRANGE", KEY, start, start + READ_AT_ONCE - 1):
            yield from found
            start += len(found)

    def _append(self, last: bytes | None, event: AuditEvent, cut_count: int = 0) -> bool:
        line = line_after(last, event, iso(self._now()))
        return bool(self._keyspace.run("append", [KEY], last or b"", line, cut_count))

    def _cut(self, last: bytes) -> None:
        """Take the oldest lines away and add one that says so, unless somebody else has added one meanwhile."""
        found: list[bytes] = self._keyspace.command("LRANGE", KEY, 0, READ_AT_ONCE - 1)
        old = [*takewhile(self._is_old, found)]
        if old:
            cut = AuditEvent(account(), "server", "", f"cut {counted(len(old), 'line')}", up_to=hash_of(old[-1]))
            self._append(last, cut, len(old))

    def _is_old(self, line: bytes) -> bool:
        try:
            return parse_time(json.loads(line)["time"]) < self._now() - KEPT
        except (ValueError, KeyError, TypeError):  # whoever checks the trail is to see it
            return False


def build(url: str, now: Callable[[], datetime]) -> AuditTrail:
    """Make the audit trail of the server of that URL."""
    return AuditList(url, now)
