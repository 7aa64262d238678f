"""Machines on one database whose clocks differ by minutes: what holds between them goes by the clock of its server."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import cycle

import pytest
from anyio import to_thread
from tests.fixtures.stores import SERVERS, Clock, appended, ignore, started, texts_of

from conversation_mcp.limits.base import Rate
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.stores.catalog import open_store

APART = timedelta(minutes=12)


@pytest.fixture(params=SERVERS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    server = request.getfixturevalue(SERVERS[request.param])
    url = server.database()
    yield url
    server.drop(url)


@pytest.fixture
def ahead(url: str, clock: Clock) -> Store:
    return open_store(url, Clock(clock.moment + APART), is_durable=False)


@pytest.fixture
def behind(url: str, clock: Clock) -> Store:
    return open_store(url, Clock(clock.moment - APART), is_durable=False)


@pytest.fixture(params=["ahead first", "behind first"])
def both(request: pytest.FixtureRequest, ahead: Store, behind: Store) -> tuple[Store, Store]:
    return (ahead, behind) if request.param == "ahead first" else (behind, ahead)


async def test_a_turn_is_its_holders_whatever_time_another_machine_has(both: tuple[Store, Store]) -> None:
    one, other = both
    conversation_id = await started(one)
    turn = await one.acquire_turn(conversation_id, 0, ignore)
    assert await other.turn_is_held(conversation_id)
    assert await to_thread.run_sync(other.finder.is_being_answered, conversation_id)
    assert await to_thread.run_sync(other.finder.ids) == [conversation_id]
    await one.update(conversation_id, appended("mine"))
    await turn.release()
    await (await other.acquire_turn(conversation_id, 0, ignore)).release()
    await other.update(conversation_id, appended("yours"))
    stored = await one.load(conversation_id)
    assert texts_of(stored) == ["Hello?", "mine", "yours"]
    assert stored.updated_at == max(message.created_at or "" for message in stored.messages)


async def test_the_name_of_a_call_is_known_to_a_machine_of_another_time(both: tuple[Store, Store]) -> None:
    one, other = both
    call = Call(await started(one), "2026-01-31T00:00:00.000Z")
    held, found = await one.calls.take("name", call)
    assert (held is not None, found) == (True, None)
    assert await other.calls.take("name") == (None, call)
    await other.calls.ask_to_stop(call)
    assert await one.calls.asked_to_stop([call])
    assert held
    await held.release()
    taken, found = await other.calls.take("name")
    assert (taken is not None, found) == (True, call)


async def test_what_a_machine_reserved_another_one_does_not_sweep_for_its_time(both: tuple[Store, Store]) -> None:
    one, other = both
    reserved = await one.reserve()
    await other.sweep()
    assert not await other.reserve_this(reserved)


async def test_machines_that_take_turns_get_no_more_than_the_rate_allows(ahead: Store, behind: Store) -> None:
    rate, stores = Rate(3, 60 * 60), cycle([ahead, behind])
    told = [await next(stores).limits.take("alice", "questions", rate) for _ in range(12)]
    assert [not wait for wait in told] == [True] * 3 + [False] * 9
