"""What every store promises of the ages for which conversations are kept, and what a server does by them."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from anyio import to_thread
from tests.fixtures.stores import Clock, NewStore, appended, ignore, put, started

from conversation_mcp.bootstrap import retention_of
from conversation_mcp.clock import parse_time
from conversation_mcp.conversations.expiry import KNOWN_SECONDS, Expiries
from conversation_mcp.conversations.retention import RetentionSweep
from conversation_mcp.records.audit import checked
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_audit, open_retention, open_store
from conversation_mcp.stores.retention import Retention

DAY = timedelta(days=1)


@pytest.fixture
def retention(store_url: str) -> Retention:
    return open_retention(store_url)


@pytest.fixture
def alices(store_url: str, clock: Clock) -> Store:
    return open_store(store_url, clock, "alice", is_durable=False)


@pytest.fixture
def sweep(store_url: str, clock: Clock) -> RetentionSweep:
    return retention_of(Settings(store=store_url), clock)


def noted(store_url: str, clock: Clock) -> list[tuple[str, str, str, list[str]]]:
    lines = [*checked(open_audit(store_url, clock).lines())]
    assert not any(line.problem for line in lines)
    return [(line.data["via"], line.data["owner"], line.data["action"], line.data["targets"]) for line in lines]


async def aside(work: Callable[..., object], *arguments: object) -> object:
    return await to_thread.run_sync(lambda: work(*arguments))


async def test_an_age_stays_until_it_is_changed_and_goes_with_its_owner(
    store_url: str, retention: Retention, store: Store, alices: Store
) -> None:
    assert await aside(retention.ages) == {}
    for each in (store, alices):
        await started(each)
    await aside(retention.put, "alice", "90d")
    await aside(retention.put, "local", "1y")
    await started(alices)
    assert await aside(open_retention(store_url).ages) == {"alice": "90d", "local": "1y"}
    await aside(retention.put, "alice", "2d")
    await aside(retention.put, "local", None)
    assert await aside(retention.ages) == {"alice": "2d"}
    await aside(retention.put, "local", "3d")
    for each in (alices, store):
        assert await each.traces()
        await each.remove_all()
        assert await each.traces() == []
    assert await aside(retention.ages) == {}


async def test_what_is_older_than_its_owner_keeps_it_is_deleted_for_good_and_noted(
    store_url: str, clock: Clock, retention: Retention, store: Store, alices: Store, sweep: RetentionSweep
) -> None:
    clock.moment -= 3 * DAY
    others, old = await started(store), await started(alices, "the quagga")
    deleted = await alices.trash.put(await started(alices, "the okapi"))
    used = await started(alices)
    clock.moment += 3 * DAY
    await alices.update(used, appended("again"))
    await sweep.sweep()
    assert await alices.exists(old)
    await aside(retention.put, "alice", "2d")
    await sweep.sweep()
    assert not await alices.exists(old)
    assert await alices.trash.entries() == ()
    assert await alices.exists(used)
    assert await store.exists(others)
    await sweep.sweep()
    assert await aside(noted, store_url, clock) == [
        ("server", "alice", "retention 2d", [old, deleted.conversation_id]),
    ]


async def test_a_conversation_that_is_being_answered_is_kept(
    clock: Clock, retention: Retention, store: Store, new_store: NewStore, sweep: RetentionSweep
) -> None:
    conversation_id = await started(store)
    turn = await new_store().acquire_turn(conversation_id, 0, ignore)
    await aside(retention.put, "local", "1h")
    clock.moment += timedelta(hours=2)
    await sweep.sweep()
    assert await store.exists(conversation_id)
    await turn.release()
    await sweep.sweep()
    assert not await store.exists(conversation_id)


async def test_an_age_that_is_none_deletes_nothing_and_is_said(
    clock: Clock, retention: Retention, store: Store, sweep: RetentionSweep, caplog: pytest.LogCaptureFixture
) -> None:
    conversation_id = await started(store)
    await aside(retention.put, "local", "soon")
    clock.moment += timedelta(hours=2)
    with caplog.at_level(logging.WARNING):
        await sweep.sweep()
    assert "'soon' is no age such as 90d" in caplog.text
    assert await store.exists(conversation_id)


@pytest.mark.parametrize("store_url", ["file"], indirect=True)
async def test_one_that_cannot_be_read_is_kept_and_said(
    clock: Clock, retention: Retention, store: Store, sweep: RetentionSweep, caplog: pytest.LogCaptureFixture
) -> None:
    old, damaged = await started(store), await started(store)
    await aside(put, store, damaged, b"{")
    await aside(retention.put, "local", "1h")
    clock.moment += timedelta(hours=2)
    with caplog.at_level(logging.WARNING):
        await sweep.sweep()
    assert "a conversation of local is kept, however old it is" in caplog.text
    assert not await store.exists(old)
    assert await store.exists(damaged)


class EnoughError(Exception):
    """Ends an endless task."""


async def test_servers_sweep_soon_after_the_start_and_then_every_hour(
    clock: Clock, sweep: RetentionSweep, retention: Retention, store: Store
) -> None:
    conversation_id = await started(store)
    await aside(retention.put, "local", "1h")
    clock.moment += timedelta(hours=2)
    rests: list[float] = []
    there: list[bool] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        there.append(await store.exists(conversation_id))
        if len(rests) > 2:
            raise EnoughError

    with pytest.raises(EnoughError):
        await sweep.run(rest)
    assert rests == [5.0, 3600.0, 3600.0]
    assert there == [True, False, False]


async def test_answers_tell_of_a_changed_age_within_a_minute(store: Store, retention: Retention) -> None:
    conversation, seconds = await store.load(await started(store)), 0.0
    expiries = Expiries(store, None, lambda: seconds)
    await aside(retention.put, "local", "2h")
    told = await expiries.of(conversation)
    await aside(retention.put, "local", "1h")
    assert await expiries.of(conversation) == told
    seconds = KNOWN_SECONDS
    assert parse_time((await expiries.of(conversation)).forgotten_after or "") == hour_before(told.forgotten_after)


def hour_before(moment: str | None) -> datetime:
    return parse_time(moment or "") - timedelta(hours=1)
