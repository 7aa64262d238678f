"""Who has a place in the database."""

from collections.abc import Iterator

from conversation_mcp.owners import LOCAL
from conversation_mcp.stores.postgresql.connections import Database

OWNERS = "SELECT owner FROM owners ORDER BY owner <> %s, owner"
OWNERS_OF_ID = "SELECT owner FROM owners_of(%s) AS owner ORDER BY owner <> %s, owner"


def owners(url: str, conversation_id: str | None = None) -> Iterator[str]:
    """Yield the owners who have a place in the database, or have or have reserved that id, `local` first.

    Raises:
        DatabaseError: it cannot be read.
    """
    sql, values = (OWNERS, (LOCAL,)) if conversation_id is None else (OWNERS_OF_ID, (conversation_id, LOCAL))
    database = Database(url, LOCAL)
    yield from database.run(lambda connection: [name for (name,) in connection.execute(sql, values)])
