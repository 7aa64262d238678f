"""Taking a lease in PostgreSQL: one journey, which can be made again when its answer was lost."""

from dataclasses import replace
from typing import Any

import pytest
from anyio import to_thread
from tests.fixtures.stores import Clock, ignore, started

from conversation_mcp.stores.base import Call, Store
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.news import OwnerNews
from conversation_mcp.stores.postgresql.connections import Database
from conversation_mcp.stores.postgresql.leases import TAKE_ANY, LeaseRows


@pytest.fixture
def store(postgresql_url: str, clock: Clock) -> Store:
    return open_store(postgresql_url, clock, is_durable=False)


@pytest.fixture
def other(postgresql_url: str, clock: Clock) -> Store:
    """The same conversations, as another machine has them."""
    return open_store(postgresql_url, clock, is_durable=False)


async def test_a_try_whose_answer_was_lost_takes_the_lease_when_it_is_made_again(postgresql_url: str) -> None:
    database = Database(postgresql_url, "local")
    leases = LeaseRows(database, OwnerNews(None, "local"))
    mine, theirs = leases.attempt("any"), leases.attempt("any")
    [(first,)] = await to_thread.run_sync(database.do, TAKE_ANY, mine)
    assert await to_thread.run_sync(database.do, TAKE_ANY, theirs) == []
    [(second,)] = await to_thread.run_sync(database.do, TAKE_ANY, mine)
    assert second > first


async def test_taking_a_name_and_a_turn_is_one_journey_each(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation_id = await started(store)
    assert await other.exists(conversation_id)
    journeys: list[str] = []
    sent = Database.do

    def counted(database: Database, sql: str, *values: Any, **how: Any) -> list[tuple[Any, ...]]:
        journeys.append(sql)
        return sent(database, sql, *values, **how)

    monkeypatch.setattr(Database, "do", counted)
    monkeypatch.setattr(Database, "run", None)
    call = Call(conversation_id, "2026-01-31T00:00:00.000Z")
    assert (await store.calls.take("key", call))[1] is None
    assert (await other.calls.take("key", replace(call, started_at="later")))[1] == call
    await store.acquire_turn(conversation_id, 0, ignore)
    assert len(journeys) == 3


async def test_only_what_may_be_undone_by_a_crash_waits_for_no_disk(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation_id = await started(store)
    call = Call(conversation_id, "2026-01-31T00:00:00.000Z")
    waits: list[bool] = []
    sent = Database.do

    def watched(database: Database, sql: str, values: Any, *, is_durable: bool = True) -> list[tuple[Any, ...]]:
        waits.append(is_durable)
        return sent(database, sql, values, is_durable=is_durable)

    monkeypatch.setattr(Database, "do", watched)
    name, _ = await store.calls.take("key", call)
    turn = await store.acquire_turn(conversation_id, 0, ignore)
    await store.calls.ask_to_stop(call)
    assert waits == [True, True, True]
    waits.clear()
    await turn.release()
    assert name
    await name.release()
    await store.calls.forget("key", call)
    assert await store.calls.find("key") is None
    assert waits[:3] == [False, False, False]
