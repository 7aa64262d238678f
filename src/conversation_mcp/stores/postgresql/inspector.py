"""What can be said of the database itself."""

from collections.abc import Iterable

from conversation_mcp.records.findings import Finding
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.text import counted

COUNTS = """
    SELECT count(*) FILTER (WHERE head IS NOT NULL AND deleted_milliseconds IS NULL),
        count(*) FILTER (WHERE head IS NULL)
    FROM conversations WHERE owner = %s
"""
ROLE = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"


class DatabaseInspector:
    """Looks at the database; satisfies Inspector."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def absence(self) -> str | None:
        """Say nothing: a database that cannot be used is an error."""
        self._database.run(self._counts)

    def check_place(self, named: str) -> Iterable[Finding]:
        """Count what is there, and tell whether row-level security holds for the role of the URL."""
        count, _ = self._database.run(self._counts)
        yield Finding("ok", f"{named}, {counted(count, 'conversation')}")
        found = self._database.run(lambda connection: connection.execute(ROLE).fetchone())
        if found and found[0]:
            yield Finding("warn", "the role of the URL is exempt from row-level security; use one that is no superuser")

    def check_leftovers(self) -> Iterable[Finding]:
        """Say how many ids are reserved and were never used."""
        _, unused = self._database.run(self._counts)
        if unused:
            yield Finding("warn", f"ids that were reserved and not used yet: {unused:,}")

    def _counts(self, connection: Connection) -> tuple[int, int]:
        found = connection.execute(COUNTS, (self._database.owner,)).fetchone()
        return (found[0], found[1]) if found else (0, 0)
