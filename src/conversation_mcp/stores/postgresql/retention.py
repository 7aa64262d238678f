"""Ages of what is kept, beside the names of the owners."""

from collections.abc import Mapping

from conversation_mcp.owners import LOCAL
from conversation_mcp.stores.postgresql.connections import Database
from conversation_mcp.stores.retention import Retention

AGES = "SELECT owner, keep FROM owners WHERE keep IS NOT NULL"
PUT = "INSERT INTO owners (owner, keep) VALUES (%s, %s) ON CONFLICT (owner) DO UPDATE SET keep = excluded.keep"


class RetentionColumn:
    """A column of the table of owners; satisfies Retention."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, LOCAL)

    def ages(self) -> Mapping[str, str]:
        """Read the column."""
        return dict(self._database.run(lambda connection: connection.execute(AGES).fetchall()))

    def put(self, owner: str, age: str | None) -> None:
        """Write the row of the owner."""
        self._database.run(lambda connection: connection.execute(PUT, (owner, age)))


def build(url: str) -> Retention:
    """Return the ages of the owners in the database."""
    return RetentionColumn(url)
