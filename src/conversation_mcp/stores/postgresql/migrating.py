"""How the tables get to the version that this program needs."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from conversation_mcp.errors import SchemaError
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.records.memory_facts import memories_of
from conversation_mcp.stores.postgresql.connections import OWNER_IS, Connection
from conversation_mcp.stores.postgresql.memories import add_memories
from conversation_mcp.stores.postgresql.schema import OLDEST, migrations, script_of, versions

ALONE = "SELECT pg_advisory_xact_lock(hashtext('conversation_mcp migrations'))"
CREATE = """
    CREATE TABLE IF NOT EXISTS conversation_mcp_migrations (
        number integer PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now(), usable_from integer
    );
    ALTER TABLE conversation_mcp_migrations ADD COLUMN IF NOT EXISTS usable_from integer
"""
DONE = "INSERT INTO conversation_mcp_migrations (number, usable_from) VALUES (%s, %s)"
ADD_VECTORS = "SELECT add_vectors()"
REMEMBERING = """
    SELECT slot FROM conversations
    WHERE owner = %s AND deleted_milliseconds IS NULL AND head::text LIKE '%%"memories"%%' ORDER BY slot FOR UPDATE
"""
HEAD = "SELECT head::text FROM conversations WHERE owner = %s AND slot = %s"


def migrate(connection: Connection, place: str) -> list[int]:
    """Run the migrations that are missing, in one transaction that keeps others out, and return their numbers.

    Vectors are added as soon as the database can have them. Newer tables that this program can use are left as they
    are.

    Raises:
        SchemaError: the tables are newer than this program can use.
    """
    with connection.transaction():
        connection.execute(ALONE)
        found = versions(connection)
        if found.present > found.needed and not found.are_usable:
            raise SchemaError(place, found.present, found.needed)
        missing = [number for number in migrations() if number > found.present]
        if missing:
            connection.execute(CREATE)
        for number in missing:
            script = script_of(number)
            connection.execute(script)
            AFTERWARDS.get(number, _nothing)(connection)
            oldest = OLDEST.match(script)
            connection.execute(DONE, (number, int(oldest[1]) if oldest else number))
        connection.execute(ADD_VECTORS)
    return missing


def _nothing(connection: Connection) -> None:
    del connection


def _make_memories(connection: Connection) -> None:
    """Make the rows of memories from the conversations of all owners."""
    for (owner,) in connection.execute("SELECT owner FROM owners").fetchall():
        connection.execute(OWNER_IS, (owner,))
        for (slot,) in connection.execute(REMEMBERING, (owner,)).fetchall():
            [head] = connection.execute(HEAD, (owner, slot)).fetchone() or ("{}",)
            data: dict[str, Any] = json.loads(head)
            add_memories(connection, owner, slot, memories_of(data, milliseconds_of))


AFTERWARDS: Mapping[int, Callable[[Connection], None]] = {8: _make_memories}
"""What only this program can do once a migration has run."""
