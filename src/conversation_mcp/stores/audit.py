"""The port of the audit trail of a store, which is shared by all owners."""

from collections.abc import Iterator
from typing import Protocol

from conversation_mcp.records.audit import AuditEvent


class AuditTrail(Protocol):
    """Lines to which any process may append, and which nothing changes. Every call blocks."""

    @property
    def place(self) -> str:
        """Where it is, for people."""
        ...

    def add(self, event: AuditEvent, *, is_durable: bool = True) -> None:
        """Append a line that names the hash of the last one, also while other processes append.

        Raises:
            FilesystemError: it cannot be written.
        """
        ...

    def lines(self) -> Iterator[bytes]:
        """Yield the lines as they are, the oldest first.

        Raises:
            FilesystemError: they cannot be read.
        """
        ...
