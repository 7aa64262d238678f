"""The versions of the tables of the database, and the migrations that this program has."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from conversation_mcp.errors import SchemaError
from conversation_mcp.stores.tables import TableVersions

if TYPE_CHECKING:
    import psycopg

EXISTS = "SELECT to_regclass('conversation_mcp_migrations') IS NOT NULL"
VERSION = "SELECT coalesce(max(number), 0) FROM conversation_mcp_migrations"
USABLE_FROM = "SELECT max(coalesce(usable_from, number)) FROM conversation_mcp_migrations"
HAS_VECTORS = """
    SELECT EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('vectors') AND attname = 'numbers' AND NOT attisdropped
    )
"""
HAS_EXTENSION = "SELECT to_regtype('halfvec') IS NOT NULL"
NO_EXTENSION = (
    "there are no searches by meaning: the database has no extension vector of version 0.7 or later. Where pgvector is "
    "installed, have a superuser run CREATE EXTENSION vector there, then run conversation-mcp database migrate"
)
NOT_MIGRATED = "there are no searches by meaning before conversation-mcp database migrate is run once more"
OLDEST = re.compile(rb"-- usable from (\d+)\n")
"""The first line of a migration that programs go on with which need no more than tables of that version."""


def versions(connection: "psycopg.Connection[tuple[Any, ...]]") -> TableVersions:
    """Return both versions."""
    found = connection.execute(EXISTS).fetchone()
    needed = max(migrations())
    present = connection.execute(VERSION).fetchone() if found and found[0] else None
    if present is None or present[0] <= needed:
        return TableVersions(present[0] if present else 0, needed)
    usable_from = connection.execute(USABLE_FROM).fetchone()
    return TableVersions(present[0], needed, usable_from[0] if usable_from else present[0])


def require_schema(connection: "psycopg.Connection[tuple[Any, ...]]", place: str) -> None:
    """Refuse tables that this program cannot use; those of an earlier version must be migrated first.

    Raises:
        SchemaError: there are none, they are older, or newer than this program can use.
    """
    found = versions(connection)
    if not found.are_usable:
        raise SchemaError(place, found.present, found.needed)


def migrations() -> list[int]:
    """Return the numbers of all migrations, in order."""
    names = (entry.name for entry in _folder().iterdir())
    return sorted(int(name.removesuffix(".sql")) for name in names if name.endswith(".sql"))


def script_of(number: int) -> bytes:
    """Return the statements of a migration."""
    return (_folder() / f"{number:04d}.sql").read_bytes()


def missing_vectors(connection: "psycopg.Connection[tuple[Any, ...]]") -> str | None:
    """Return why the database cannot keep vectors, and what helps; None if it can."""
    if connection.execute(HAS_VECTORS).fetchone() == (True,):
        return None
    return NOT_MIGRATED if connection.execute(HAS_EXTENSION).fetchone() == (True,) else NO_EXTENSION


def _folder() -> Traversable:
    return files("conversation_mcp.stores.postgresql") / "migrations"
