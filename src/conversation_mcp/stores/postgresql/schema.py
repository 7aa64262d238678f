"""The tables of the database: which version they have, and how they get to the one that this program needs."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from conversation_mcp.errors import SchemaError
from conversation_mcp.stores.tables import TableVersions

if TYPE_CHECKING:
    import psycopg

ALONE = "SELECT pg_advisory_xact_lock(hashtext('conversation_mcp migrations'))"
CREATE = """
    CREATE TABLE IF NOT EXISTS conversation_mcp_migrations (
        number integer PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now()
    )
"""
EXISTS = "SELECT to_regclass('conversation_mcp_migrations') IS NOT NULL"
VERSION = "SELECT coalesce(max(number), 0) FROM conversation_mcp_migrations"


def versions(connection: "psycopg.Connection[tuple[Any, ...]]") -> TableVersions:
    """Return both versions."""
    found = connection.execute(EXISTS).fetchone()
    present = connection.execute(VERSION).fetchone() if found and found[0] else None
    return TableVersions(present[0] if present else 0, max(_migrations()))


def require_schema(connection: "psycopg.Connection[tuple[Any, ...]]", place: str) -> None:
    """Refuse tables that this program cannot use; those of an earlier version must be migrated first.

    Raises:
        SchemaError: there are none, or they have another version.
    """
    present, needed = versions(connection)
    if present != needed:
        raise SchemaError(place, present, needed)


def migrate(connection: "psycopg.Connection[tuple[Any, ...]]", place: str) -> list[int]:
    """Run the migrations that are missing, in one transaction that keeps others out, and return their numbers.

    Raises:
        SchemaError: the tables are newer than this program.
    """
    with connection.transaction():
        connection.execute(ALONE)
        present, needed = versions(connection)
        if present > needed:
            raise SchemaError(place, present, needed)
        connection.execute(CREATE)
        missing = [number for number in _migrations() if number > present]
        for number in missing:
            connection.execute((_folder() / f"{number:04d}.sql").read_bytes())
            connection.execute("INSERT INTO conversation_mcp_migrations (number) VALUES (%s)", (number,))
    return missing


def _folder() -> Traversable:
    return files("conversation_mcp.stores.postgresql") / "migrations"


def _migrations() -> list[int]:
    names = (entry.name for entry in _folder().iterdir())
    return sorted(int(name.removesuffix(".sql")) for name in names if name.endswith(".sql"))
