"""The tables of a database, for the command that looks after them."""

from contextlib import closing

from conversation_mcp.stores.postgresql.connections import connect, place_of
from conversation_mcp.stores.postgresql.faults import explained
from conversation_mcp.stores.postgresql.migrating import migrate
from conversation_mcp.stores.postgresql.schema import missing_vectors, versions
from conversation_mcp.stores.tables import TableVersions


class DatabaseTables:
    """Satisfies Tables."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.place = place_of(url)

    def versions(self) -> TableVersions:
        """Ask the database."""
        with explained(self.place), closing(connect(self._url)) as connection:
            return versions(connection)

    def migrate(self) -> list[int]:
        """Run what is missing."""
        with explained(self.place), closing(connect(self._url)) as connection:
            return migrate(connection, self.place)

    def without_meaning(self) -> str | None:
        """Ask the database."""
        with explained(self.place), closing(connect(self._url)) as connection:
            return missing_vectors(connection)


def build(url: str) -> DatabaseTables:
    """Make the tables of the database of that URL."""
    return DatabaseTables(url)
