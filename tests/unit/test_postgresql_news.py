"""News between processes on a database: whoever waits hears of it at once, and looks as before where it cannot hear."""

from collections.abc import Callable, Iterator

import anyio
import psycopg
import pytest
from anyio import to_thread
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.stores import appended, ignore, started

from conversation_mcp.clock import utc_now
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.ears import Ear
from conversation_mcp.stores.postgresql.news import CHANNEL, NewsHub

NEVER = 100_000.0
Process = tuple[Store, NewsHub]
Opened = Callable[..., Process]


@pytest.fixture
def url(database: PostgreSQL) -> Iterator[str]:
    url = database.database()
    yield url
    database.drop(url)


@pytest.fixture
def opened(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Opens a store with news, as another process would; nobody looks by the clock."""
    monkeypatch.setattr("conversation_mcp.stores.postgresql.news.LOOK_SECONDS", NEVER)
    monkeypatch.setattr("conversation_mcp.stores.postgresql.news.AGAIN_SECONDS", (0.01,))
    monkeypatch.setattr("conversation_mcp.stores.turn_locks.TELL_SECONDS", NEVER)
    hubs: list[NewsHub] = []

    def opened(owner: str = "local") -> Process:
        hubs.append(NewsHub(url))
        return open_store(url, utc_now, owner, common=hubs[-1]), hubs[-1]

    yield opened
    for hub in hubs:
        hub.close()


async def heard(ear: Ear) -> None:
    with anyio.fail_after(30):
        await ear.pause(NEVER)


async def is_listening(hub: NewsHub, *, wanted: bool = True) -> None:
    with anyio.fail_after(30):
        while hub.is_listening is not wanted:
            await anyio.lowlevel.checkpoint()


async def settled(ear: Ear, hub: NewsHub) -> None:
    """Wait until it listens, and take the news that it does."""
    await is_listening(hub)
    await heard(ear)


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


async def test_nobody_hears_of_another_owner_and_a_notice_names_nothing(opened: Opened, url: str) -> None:
    (one, hub), (other, _) = opened("alice"), opened("bob")
    with one.hear(None) as ear, await to_thread.run_sync(psycopg.connect, url) as spy:
        await settled(ear, hub)
        await to_thread.run_sync(lambda: (spy.execute(f"LISTEN {CHANNEL}".encode()), spy.commit()))
        conversation_id: ConversationId = await started(other)
        notice = await to_thread.run_sync(lambda: next(spy.notifies(timeout=30)))
        assert conversation_id not in notice.payload
        assert "bob" not in notice.payload
        with anyio.move_on_after(0.2) as unheard:
            await ear.pause(NEVER)
        assert unheard.cancelled_caught


async def test_a_connection_that_is_lost_wakes_all_who_wait_and_is_made_anew(
    opened: Opened, database: PostgreSQL
) -> None:
    (one, hub), (other, _) = opened(), opened()
    conversation_id = await started(other)
    with one.hear(conversation_id) as ear:
        await settled(ear, hub)
        await to_thread.run_sync(
            database.admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        )
        await heard(ear)
        await is_listening(hub)
        await heard(ear)
        await other.update(conversation_id, appended("more"))
        await heard(ear)


async def test_behind_a_pooler_nobody_listens_and_pauses_are_short(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.stores.postgresql.news.PID", "SELECT pg_backend_pid() + 1")
    one, hub = opened()
    conversation_id = await started(one)
    with one.hear(conversation_id) as ear:
        await heard(ear)
        assert hub.is_off
        with anyio.fail_after(30):
            await ear.pause(0.01)


async def test_what_was_told_last_is_told_before_the_end(opened: Opened) -> None:
    (one, hub), (other, last) = opened(), opened()
    conversation_id = await started(one)
    with one.hear(conversation_id) as ear:
        await settled(ear, hub)
        await other.update(conversation_id, appended("more"))
        await to_thread.run_sync(last.close)
        await heard(ear)
