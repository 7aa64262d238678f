"""Faults of the database: what is tried again, what is said, and that nothing is half written."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from threading import Barrier, Thread

import psycopg
import pytest
from anyio import to_thread
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.gates import Gate, to_unix_socket
from tests.fixtures.stores import Clock, appended, ignore, started, texts_of

from conversation_mcp.errors import DatabaseError, InvalidInputError
from conversation_mcp.records.models import Conversation
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.postgresql import connections
from conversation_mcp.stores.postgresql.connections import Connection, Database, InDoubtError

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def gate(database: PostgreSQL) -> Iterator[Gate]:
    with Gate(to_unix_socket(f"{database.folder}/.s.PGSQL.5432")) as gate:
        yield gate


@pytest.fixture
def through(postgresql_url: str, gate: Gate) -> str:
    """The URL of the database behind the gate."""
    return f"postgresql://conversations@127.0.0.1:{gate.port}/{name_of(postgresql_url)}"


@pytest.fixture
def store(through: str, clock: Clock) -> Store:
    return open_store(through, clock, is_durable=False)


def name_of(postgresql_url: str) -> str:
    return postgresql_url.partition("@/")[2].partition("?")[0]


def with_option(postgresql_url: str, option: str) -> str:
    return f"{postgresql_url}&options=-c%20{option.replace('=', '%3D')}"


async def test_a_connection_that_is_cut_at_any_statement_loses_nothing_and_writes_nothing_twice(
    store: Store, gate: Gate
) -> None:
    conversation_id = await started(store)
    known = ["Hello?"]
    for passing in range(12):
        gate.left = passing
        with suppress(DatabaseError):
            await store.update(conversation_id, appended(f"answer {passing}"))
        gate.left = None
        texts = texts_of(await store.load(conversation_id))
        assert texts in (known, [*known, f"answer {passing}"])
        known = texts
    assert len(known) > 6  # what was cut before its commit was tried again


async def test_an_answer_is_one_journey_to_the_database(store: Store, gate: Gate) -> None:
    conversation_id = await started(store)
    turn = await store.acquire_turn(conversation_id, 0, ignore)
    gate.left = 1
    await store.update(conversation_id, appended("answer"))
    assert gate.pass_on()
    await turn.release()
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "answer"]


async def test_a_look_for_wishes_to_stop_is_one_journey_and_a_lost_answer_loses_no_wish(
    store: Store, gate: Gate, postgresql_url: str, clock: Clock
) -> None:
    call = Call(await started(store), "2026-01-31T00:00:00.000Z")
    gate.left = 1
    assert not await store.calls.asked_to_stop([call])
    assert gate.pass_on()
    await open_store(postgresql_url, clock).calls.ask_to_stop(call)
    gate.answers_left = 0
    assert await store.calls.asked_to_stop([call]) == [call]
    assert gate.answers_left is None
    assert not await store.calls.asked_to_stop([call])


async def test_a_write_whose_acknowledgement_was_lost_is_found_to_be_done(store: Store, gate: Gate) -> None:
    conversation_id = await started(store)
    gate.answers_left = 0
    written = await store.update(conversation_id, appended("answer"))
    assert gate.answers_left is None
    assert texts_of(written) == texts_of(await store.load(conversation_id)) == ["Hello?", "answer"]
    await store.update(conversation_id, appended("more"))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "answer", "more"]


@pytest.mark.parametrize("sql", ["UPDATE conversations SET version = version + 1", "UPDATE messages SET body = '{}'"])
async def test_a_write_in_doubt_that_somebody_has_changed_since_is_not_made_twice(
    postgresql_url: str, clock: Clock, database: PostgreSQL, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    store = open_store(postgresql_url, clock, is_durable=False)
    conversation_id = await started(store)
    send = Database.call

    def cut(self: Database, statement: bytes, values: Sequence[object]) -> None:
        send(self, statement, values)
        database.change(postgresql_url, sql)
        raise InDoubtError(DatabaseError("here", "the connection to it broke"))

    monkeypatch.setattr(Database, "call", cut)
    with pytest.raises(DatabaseError, match="the connection to it broke"):
        await store.update(conversation_id, appended("answer"))
    seen: list[int] = []
    with psycopg.connect(postgresql_url.replace("conversations@", "postgres@")) as connection:
        seen += [count for (count,) in connection.execute("SELECT count(*) FROM messages")]
    connection.close()
    assert seen == [2]


async def test_a_change_is_made_of_what_is_stored_even_if_what_was_loaded_last_cannot_be_changed_so(
    postgresql_url: str, store: Store, clock: Clock
) -> None:
    conversation_id = await started(store)
    await open_store(postgresql_url, clock, is_durable=False).update(conversation_id, appended("written elsewhere"))

    def change(stored: Conversation, now: str) -> Conversation:
        if len(stored.messages) == 1:
            raise InvalidInputError("not this one")
        return appended("more")(stored, now)

    await store.update(conversation_id, change)
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "written elsewhere", "more"]


async def test_while_the_database_is_away_it_is_said_and_then_it_goes_on(store: Store, gate: Gate) -> None:
    conversation_id = await started(store)
    gate.shut()
    with pytest.raises(DatabaseError, match="cannot be reached, or the connection to it broke"):
        await store.update(conversation_id, appended("lost"))
    gate.open()
    await store.update(conversation_id, appended("kept"))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "kept"]


async def test_another_host_of_the_url_is_used_when_one_is_away(
    database: PostgreSQL, postgresql_url: str, gate: Gate, clock: Clock
) -> None:
    with Gate(to_unix_socket(f"{database.folder}/.s.PGSQL.5432")) as second:
        hosts = f"127.0.0.1:{gate.port},127.0.0.1:{second.port}"
        both = f"postgresql://conversations@{hosts}/{name_of(postgresql_url)}?target_session_attrs=read-write"
        store = open_store(both, clock, is_durable=False)
        conversation_id = await started(store)
        gate.shut()
        await store.update(conversation_id, appended("more"))
        assert texts_of(await store.load(conversation_id)) == ["Hello?", "more"]


@pytest.mark.parametrize("fault", [psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected])
@pytest.mark.parametrize("times", [1, 3, 4])
def test_what_another_transaction_undid_is_done_again_a_few_times(
    postgresql_url: str, fault: type[psycopg.Error], times: int
) -> None:
    tries: list[int] = []

    def work(_connection: Connection) -> str:
        tries.append(1)
        if len(tries) <= times:
            raise fault
        return "done"

    database = Database(postgresql_url, "local")
    if times < connections.TRIES:
        assert database.run(work) == "done"
    else:
        with pytest.raises(DatabaseError):
            database.run(work)


def test_two_transactions_that_lock_each_other_out_both_get_done(postgresql_url: str) -> None:
    database = Database(postgresql_url, "local")
    database.rows("INSERT INTO owners (owner) VALUES (%s)")
    database.run(lambda connection: connection.execute("INSERT INTO marks VALUES ('local', 'a'), ('local', 'b')"))
    meeting, tries = Barrier(2), [0, 0]

    def lock(number: int) -> None:
        def work(connection: Connection) -> None:
            tries[number] += 1
            for place, name in enumerate("ab" if number else "ba"):
                connection.execute("SELECT 1 FROM marks WHERE owner = 'local' AND mark = %s FOR UPDATE", (name,))
                if place == 0 and tries[number] == 1:
                    meeting.wait(30)

        database.run(work)

    threads = [Thread(target=partial(lock, number)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(tries) >= 3


async def test_a_database_that_only_reads_is_read_and_refuses_to_write(postgresql_url: str, clock: Clock) -> None:
    conversation_id = await started(open_store(postgresql_url, clock, is_durable=False))
    store = open_store(with_option(postgresql_url, "default_transaction_read_only=on"), clock)
    assert texts_of(await store.load(conversation_id)) == ["Hello?"]
    with pytest.raises(DatabaseError, match="the database is read-only"):
        await store.update(conversation_id, appended("more"))


async def test_a_statement_that_takes_too_long_is_given_up_and_can_be_tried_again(
    postgresql_url: str, clock: Clock
) -> None:
    conversation_id = await started(open_store(postgresql_url, clock, is_durable=False))
    store = open_store(with_option(postgresql_url, "statement_timeout=100"), clock, is_durable=False)
    with psycopg.connect(postgresql_url) as other:
        other.execute("SELECT set_config('conversation_mcp.owner', 'local', true)")
        other.execute("SELECT 1 FROM conversations FOR UPDATE")
        with pytest.raises(DatabaseError, match="the database took too long"):
            await store.update(conversation_id, appended("more"))
    other.close()
    await store.update(conversation_id, appended("more"))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "more"]


def test_a_database_without_a_free_connection_says_so(database: PostgreSQL, postgresql_url: str, clock: Clock) -> None:
    database.admin("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0")
    try:
        with pytest.raises(DatabaseError, match="the database has no connection left"):
            open_store(postgresql_url.replace("conversations@", "crowded@"), clock).finder.ids()
    finally:
        database.admin("DROP ROLE crowded")


@pytest.mark.parametrize(
    ("part", "instead", "problem"),
    [
        ("/test_", "/none_", "there is no such database"),
        ("conversations@", "nobody@", "the database refuses the role or password of the URL"),
    ],
)
def test_why_nobody_can_connect_is_said(
    postgresql_url: str, clock: Clock, part: str, instead: str, problem: str
) -> None:
    with pytest.raises(DatabaseError, match=problem):
        open_store(postgresql_url.replace(part, instead), clock).finder.ids()


async def test_who_finds_all_connections_busy_waits_for_one_and_not_for_ever(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "WAIT_SECONDS", 0.05)
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    database = Database(postgresql_url, "local")

    def work(_connection: Connection) -> None:
        with pytest.raises(DatabaseError, match="all connections to the database are busy"):
            database.first("SELECT %s")

    await to_thread.run_sync(database.run, work)
    assert database.first("SELECT %s") == ("local",)
