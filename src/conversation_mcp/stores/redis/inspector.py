"""What can be said of the server itself."""

from collections.abc import Iterable

from conversation_mcp.records.findings import Finding
from conversation_mcp.stores.redis.keyspace import Keyspace
from conversation_mcp.stores.redis.persistence import risks
from conversation_mcp.text import counted


class KeyspaceInspector:
    """Looks at an owner's part of the server; satisfies Inspector."""

    def __init__(self, keyspace: Keyspace) -> None:
        self._keyspace = keyspace

    def absence(self) -> str | None:
        """Say nothing: a server that cannot be used is an error."""
        self._keyspace.run("standing", [])

    def check_place(self, named: str) -> Iterable[Finding]:
        """Count what is there, and tell what the settings of the server can lose."""
        count, *_ = self._keyspace.run("standing", [])
        yield Finding("ok", f"{named}, {counted(count, 'conversation')}")
        yield from self._risks()

    def check_leftovers(self) -> Iterable[Finding]:
        """Say how many ids are reserved and were never used, and what the settings of the server can lose."""
        unused = self._keyspace.command("ZCARD", self._keyspace.key("reserved"))
        if unused:
            yield Finding("warn", f"ids that were reserved and not used yet: {unused:,}")
        yield from self._risks()

    def _risks(self) -> Iterable[Finding]:
        return (Finding("warn", risk) for risk in risks(self._keyspace))
