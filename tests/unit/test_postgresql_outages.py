"""A database server that runs out of disk, is killed, or hands over to another one."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.databases import PostgreSQL, postgresql, require_database, standby_of
from tests.fixtures.stores import Clock, appended, fill, ignore, public_folder, small_disk, started, texts_of

from conversation_mcp.errors import DatabaseError
from conversation_mcp.stores.catalog import open_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
LARGE = "".join(sha256(str(number).encode()).hexdigest() for number in range(20_000))
"""More than a megabyte, which the database cannot compress."""


@pytest.fixture
def server() -> Iterator[PostgreSQL]:
    """A server of this test alone."""
    require_database()
    with postgresql() as server:
        yield server


@pytest.fixture
def second(server: PostgreSQL) -> Iterator[PostgreSQL]:
    """A server beside it that has nothing of it."""
    del server
    with postgresql() as second:
        yield second


@pytest.fixture
def disk() -> Iterator[Path]:
    require_database()
    with public_folder() as folder, small_disk(folder / "disk", "120m") as disk:
        yield disk


@pytest.fixture
def on_disk(disk: Path) -> Iterator[PostgreSQL]:
    """A server with its data on that disk, and with what it logs ahead elsewhere."""
    with postgresql(disk) as server:
        yield server


async def test_a_full_disk_is_said_and_leaves_what_was_there_and_then_it_goes_on(
    disk: Path, on_disk: PostgreSQL, clock: Clock
) -> None:
    store = open_store(on_disk.database(), clock)
    conversation_id = await started(store)
    await to_thread.run_sync(fill, disk, 100_000)
    with pytest.raises(DatabaseError, match="the disk of the database is full"):
        await store.update(conversation_id, appended(LARGE))
    assert texts_of(await store.load(conversation_id)) == ["Hello?"]
    await to_thread.run_sync((disk / "ballast").unlink)
    await store.update(conversation_id, appended(LARGE))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", LARGE]


async def test_a_server_that_is_killed_has_what_it_acknowledged_when_it_is_back(
    server: PostgreSQL, clock: Clock
) -> None:
    store = open_store(server.database(), clock)
    conversation_id = await started(store)
    turn = await store.acquire_turn(conversation_id, 0, ignore)
    await store.update(conversation_id, appended("paid for"))
    await to_thread.run_sync(server.kill)
    with pytest.raises(DatabaseError, match="cannot be reached, or the connection to it broke"):
        await store.update(conversation_id, appended("lost"))
    await to_thread.run_sync(server.start)
    await store.update(conversation_id, appended("kept"))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "paid for", "kept"]
    assert await store.turn_is_held(conversation_id)
    await turn.release()
    assert not await store.turn_is_held(conversation_id)


async def test_the_server_that_takes_over_is_found_in_the_url_and_has_everything(
    server: PostgreSQL, clock: Clock
) -> None:
    name = server.database().partition("@/")[2].partition("?")[0]
    with standby_of(server) as second:
        await to_thread.run_sync(server.admin, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        await to_thread.run_sync(server.admin, "SELECT pg_reload_conf()")
        hosts = f"{second.folder},{server.folder}"
        url = f"postgresql://conversations@/{name}?host={hosts}&target_session_attrs=read-write"
        store = open_store(url, clock)
        conversation_id = await started(store)
        await store.update(conversation_id, appended("on the first"))
        await to_thread.run_sync(server.kill)
        with pytest.raises(DatabaseError):
            await store.update(conversation_id, appended("lost"))
        await to_thread.run_sync(second.promote)
        await store.update(conversation_id, appended("on the second"))
        assert texts_of(await store.load(conversation_id)) == ["Hello?", "on the first", "on the second"]


async def test_who_is_connected_to_a_server_that_turned_read_only_goes_to_the_one_that_writes(
    server: PostgreSQL, second: PostgreSQL, clock: Clock
) -> None:
    """A server that hands over without breaking its connections, as managed ones do."""
    name = server.database().partition("@/")[2].partition("?")[0]
    assert name in second.database()  # both have had as many
    hosts = f"{server.folder},{second.folder}"
    url = f"postgresql://conversations@/{name}?host={hosts}&target_session_attrs=read-write"
    store = open_store(url, clock)
    await started(store, "on the first")
    server.admin("ALTER SYSTEM SET default_transaction_read_only = on")
    server.admin("SELECT pg_reload_conf()")
    finder, last = open_store(second.url(name), clock).finder, await started(store)
    while not await to_thread.run_sync(finder.ids):  # until the connections of the first have heard of it
        last = await started(store)
    assert await to_thread.run_sync(finder.ids) == [last]
