"""News between processes on one store: whoever waits hears of it at once, and looks as before where it cannot hear."""

from collections.abc import Callable, Iterator
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import psycopg
import pytest
from anyio import to_thread
from redis import Redis
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.stores import appended, ignore, started
from tests.fixtures.valkey import Valkey

from conversation_mcp.clock import utc_now
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.stores.catalog import open_common, open_store
from conversation_mcp.stores.ears import Ear
from conversation_mcp.stores.news import NewsHub
from conversation_mcp.stores.postgresql import news as of_databases
from conversation_mcp.stores.redis import news as of_servers

NEVER = 100_000.0
Process = tuple[Store, NewsHub]
Opened = Callable[..., Process]
Server = PostgreSQL | Valkey
on_each = pytest.mark.parametrize("store_url", ["postgresql", "redis"], indirect=True)
on_a_database = pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
on_redis = pytest.mark.parametrize("store_url", ["redis"], indirect=True)


@pytest.fixture
def server(store_url: str, request: pytest.FixtureRequest) -> Server:
    return request.getfixturevalue("database" if store_url.startswith("postgresql") else "valkey_server")


@pytest.fixture
def opened(store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Opens a store with news, as another process would; nobody looks by the clock."""
    monkeypatch.setattr("conversation_mcp.stores.news.LOOK_SECONDS", NEVER)
    monkeypatch.setattr("conversation_mcp.stores.news.AGAIN_SECONDS", (0.01,))
    monkeypatch.setattr("conversation_mcp.stores.turn_locks.TELL_SECONDS", NEVER)
    hubs: list[NewsHub] = []

    def opened(owner: str = "local", url: str = store_url) -> Process:
        hubs.append(cast("NewsHub", open_common(url)))
        return open_store(url, utc_now, owner, common=hubs[-1]), hubs[-1]

    yield opened
    for hub in hubs:
        hub.close()


def cut(server: Server) -> None:
    """End the connections that listen."""
    if isinstance(server, PostgreSQL):
        server.admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    else:
        server.command(server.any_url, "CLIENT", "KILL", "TYPE", "pubsub")


def overheard(url: str, tell: Callable[[], object]) -> str:
    """Return what comes over the channel once somebody tells something."""
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True) as spy:
            spy.execute(f"LISTEN {of_databases.CHANNEL}".encode())
            tell()
            notice = next(spy.notifies(timeout=30)).payload
        spy.close()
        return notice
    driver: Any = Redis
    with driver.from_url(url) as client, client.pubsub() as spy:
        spy.subscribe(of_servers.CHANNEL)
        assert spy.get_message(timeout=30)
        tell()
        return spy.get_message(timeout=30)["data"].decode()


async def heard(ear: Ear) -> None:
    with anyio.fail_after(30):
        await ear.pause(NEVER)


async def is_listening(hub: NewsHub, *, wanted: bool = True) -> None:
    with anyio.fail_after(30):
        while hub.is_listening is not wanted:
            await anyio.lowlevel.checkpoint()


async def is_off(hub: NewsHub) -> None:
    with anyio.fail_after(30):
        while not hub.is_off:
            await anyio.lowlevel.checkpoint()


async def settled(ear: Ear, hub: NewsHub) -> None:
    """Wait until it listens, and take the news that it does."""
    await is_listening(hub)
    await heard(ear)


@on_each
async def test_who_waits_for_a_turn_of_another_process_hears_its_end(opened: Opened) -> None:
    (one, hub), (other, _) = opened(), opened()
    conversation_id = await started(other)
    held = await other.acquire_turn(conversation_id, 0, ignore)
    waits = anyio.Event()

    async def tell(_: float) -> None:
        waits.set()

    async def wait() -> None:
        with anyio.fail_after(30):
            await (await one.acquire_turn(conversation_id, NEVER, tell)).release()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await waits.wait()
        await is_listening(hub)
        await held.release()
    assert not await other.turn_is_held(conversation_id)


@on_each
async def test_an_ear_hears_of_stops_names_and_writes_beside_turns(opened: Opened) -> None:
    (one, hub), (other, _) = opened(), opened()
    conversation_id = await started(other)
    with one.hear(conversation_id) as of_it, one.hear(None) as of_all, one.calls.hear("key") as of_name:
        for ear in (of_it, of_all, of_name):
            await settled(ear, hub)
        await other.calls.ask_to_stop(Call(conversation_id, "2026-01-31T00:00:00.000Z"))
        for ear in (of_it, of_all):
            await heard(ear)
        await other.update(conversation_id, appended("more"))
        for ear in (of_it, of_all):
            await heard(ear)
        name, _ = await other.calls.take("key")
        assert name
        await name.release()
        await heard(of_name)
        await heard(of_all)
        await started(other)
        await heard(of_all)


@on_each
async def test_news_that_come_between_two_pauses_are_not_missed(opened: Opened) -> None:
    (one, hub), (other, teller) = opened(), opened()
    conversation_id = await started(other)
    with one.hear(conversation_id) as ear, one.hear(conversation_id) as witness:
        await settled(ear, hub)
        await heard(witness)
        await is_listening(teller)
        await other.update(conversation_id, appended("more"))
        await heard(witness)
        await heard(ear)


@on_each
async def test_nobody_hears_of_another_owner_and_a_notice_names_nothing(opened: Opened, store_url: str) -> None:
    (one, hub), (other, _) = opened("alice"), opened("bob")
    conversation_id: ConversationId = await started(other)
    with one.hear(None) as ear:
        await settled(ear, hub)

        def tell() -> None:
            anyio.from_thread.run(other.update, conversation_id, appended("more"))

        notice = await to_thread.run_sync(overheard, store_url, tell)
        assert conversation_id not in notice
        assert "bob" not in notice
        with anyio.move_on_after(0.2) as unheard:
            await ear.pause(NEVER)
        assert unheard.cancelled_caught


@on_each
async def test_a_connection_that_is_lost_wakes_all_who_wait_and_is_made_anew(opened: Opened, server: Server) -> None:
    (one, hub), (other, _) = opened(), opened()
    conversation_id = await started(other)
    with one.hear(conversation_id) as ear:
        await settled(ear, hub)
        await to_thread.run_sync(cut, server)
        await heard(ear)
        await is_listening(hub)
        await heard(ear)
        await other.update(conversation_id, appended("more"))
        await heard(ear)


@on_a_database
async def test_behind_a_pooler_nobody_listens_and_pauses_are_short(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.stores.postgresql.news.PID", "SELECT pg_backend_pid() + 1")
    one, hub = opened()
    conversation_id = await started(one)
    with one.hear(conversation_id) as ear:
        await is_off(hub)
        with anyio.fail_after(30):
            await ear.pause(0.01)


@on_redis
async def test_a_user_who_may_not_subscribe_has_short_pauses(opened: Opened, server: Valkey, store_url: str) -> None:
    name, word = "quiet", "x"
    server.command(store_url, "ACL", "SETUSER", name, "on", f">{word}", "~*", "resetchannels", "+@all")
    one, hub = opened(url=urlsplit(store_url)._replace(netloc=f"{name}:{word}@127.0.0.1:{server.port}").geturl())
    conversation_id = await started(one)
    with one.hear(conversation_id) as ear:
        await is_off(hub)
        with anyio.fail_after(30):
            await ear.pause(0.01)


@on_each
async def test_what_was_told_last_is_told_before_the_end(opened: Opened) -> None:
    (one, hub), (other, last) = opened(), opened()
    conversation_id = await started(one)
    with one.hear(conversation_id) as ear:
        await settled(ear, hub)
        await other.update(conversation_id, appended("more"))
        await to_thread.run_sync(last.close)
        await heard(ear)
