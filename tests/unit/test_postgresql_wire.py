"""What is handed to functions of the database past the driver's cursors."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import psycopg
import pytest
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.stores import Clock, appended, started, texts_of

from conversation_mcp.errors import DatabaseError
from conversation_mcp.stores.catalog import open_store, open_tables
from conversation_mcp.stores.postgresql.connections import Connection, connect
from conversation_mcp.stores.postgresql.wire import Function

ODD_TEXTS = ["", "NULL", '{"a", b}', "back\\slash", "Gr\u00fc\u00dfe \u8a9e \U0001f600", " ends, in 'quotes' "]
ECHO = """
    CREATE FUNCTION pg_temp.echo(a text, b bigint, c boolean, d timestamptz, e text[], f integer[], g text[])
    RETURNS text LANGUAGE sql AS $$
        SELECT to_jsonb(ARRAY[a, b::text, c::text, (d AT TIME ZONE 'UTC')::text] || e || f::text[] || g)::text
    $$
"""


@pytest.fixture
def connection(postgresql_url: str) -> Iterator[Connection]:
    with closing(connect(postgresql_url)) as connection:
        yield connection


@pytest.fixture
def latin_url(database: PostgreSQL) -> Iterator[str]:
    """The URL of a database whose letters are those of western Europe."""
    database.admin("CREATE DATABASE latin OWNER conversations ENCODING 'LATIN1' TEMPLATE template0")
    url = database.url("latin")
    open_tables(url).migrate()
    yield url
    database.drop(url)


@pytest.mark.parametrize("odd", ODD_TEXTS)
def test_every_kind_of_value_arrives_as_it_was(connection: Connection, odd: str) -> None:
    connection.execute(ECHO.encode())
    moment = datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)
    told = Function("pg_temp.echo", 7).call(connection, (odd, -(2**40), True, moment, ODD_TEXTS, [1, -2], []))
    assert json.loads(told) == [odd, str(-(2**40)), "true", "2026-01-02 03:04:05.678", *ODD_TEXTS, "1", "-2"]


def test_none_and_false_arrive_as_such(connection: Connection) -> None:
    connection.execute(ECHO.encode())
    told = Function("pg_temp.echo", 7).call(connection, (None, None, False, None, [], [], None))
    assert told == '[null, null, "false", null]'


def test_an_error_of_the_function_has_its_code(connection: Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedFunction):
        Function("nothing", 1).call(connection, ["a"])
    assert Function("lower", 1).call(connection, ["A"]) == "a"


def test_a_connection_that_was_ended_is_an_operational_error(connection: Connection, database: PostgreSQL) -> None:
    database.admin(f"SELECT pg_terminate_backend({connection.info.backend_pid})")
    with pytest.raises(psycopg.OperationalError):
        Function("lower", 1).call(connection, ["A"])
    assert connection.broken


async def test_a_database_of_another_encoding_keeps_the_letters_that_it_has_and_refuses_others(
    latin_url: str, clock: Clock
) -> None:
    store = open_store(latin_url, clock)
    conversation_id = await started(store)
    await store.update(conversation_id, appended("Gr\u00fc\u00dfe"))
    with pytest.raises(DatabaseError, match="22P05"):
        await store.update(conversation_id, appended("\u8a9e"))
    assert texts_of(await open_store(latin_url, clock).load(conversation_id)) == ["Hello?", "Gr\u00fc\u00dfe"]
