"""Removing all rows of an owner."""

from conversation_mcp.stores.postgresql.connections import Connection
from conversation_mcp.text import counted

TABLES = ("conversations", "marks", "calls", "stops", "leases", "buckets", "vector_models", "owners")
"""In this order; what belongs to a conversation goes with it."""
WITH_CONVERSATIONS = (
    "messages", "words", "memories", "memory_words", "attachments", "exports", "vector_groups", "vectors"
)  # fmt: skip
ALONE = "SELECT 1 FROM owners WHERE owner = %s FOR UPDATE"
"""Keeps others from adding conversations of the owner until the end of the transaction."""


def remove_rows(connection: Connection, *, owner: str) -> None:
    """Delete them."""
    connection.execute(ALONE, (owner,))
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE owner = %s".encode(), (owner,))


def left_rows(connection: Connection, *, owner: str) -> list[str]:
    """Return how many rows there are, by table."""
    left: list[str] = []
    for table in (*TABLES, *WITH_CONVERSATIONS):
        found = connection.execute(f"SELECT count(*) FROM {table} WHERE owner = %s".encode(), (owner,)).fetchone()
        if found and found[0]:
            left.append(f"{counted(found[0], 'row')} of the table {table}")
    return left
