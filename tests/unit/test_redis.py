"""What only the store on a Redis server has: leases and fences, forgetting, and what its server can lose."""

from contextlib import suppress
from datetime import timedelta

import pytest
from anyio import create_task_group, to_thread
from tests.fixtures.stores import Clock, appended, ignore, started, texts_of
from tests.fixtures.valkey import CuttingProxy, Valkey

from conversation_mcp.errors import (
    ConversationNotFoundError,
    TurnLostError,
)
from conversation_mcp.limits.base import Rate
from conversation_mcp.records.found import Wanted
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.stores.catalog import open_store, owners_in

MINUTE = timedelta(minutes=1)
AT_ONCE = 1e-9
"""A lifetime in hours that is over before it can be looked at."""


@pytest.fixture
def store(redis_url: str, clock: Clock) -> Store:
    return open_store(redis_url, clock)


@pytest.fixture
def other(redis_url: str, clock: Clock) -> Store:
    """The same conversations, as another machine has them."""
    return open_store(redis_url, clock)


@pytest.fixture
def lapse(redis_url: str, valkey_server: Valkey) -> "Lapse":
    return Lapse(redis_url, valkey_server)


class Lapse:
    """Lets every lease lapse, as when its process was suspended for long."""

    def __init__(self, redis_url: str, server: Valkey) -> None:
        self._url = redis_url
        self._server = server

    async def __call__(self) -> None:
        await to_thread.run_sync(self._all)

    def _all(self) -> None:
        for key in self._server.command(self._url, "KEYS", "*:lease:*"):
            self._server.command(self._url, "HSET", key, "until", 1)


def key_of(conversation_id: str) -> str:
    return f"conversation-mcp:{{local}}:conversation:{conversation_id}"


async def test_a_turn_of_a_process_that_is_not_heard_of_is_taken_over(lapse: Lapse, store: Store, other: Store) -> None:
    conversation_id = await started(store)
    await store.acquire_turn(conversation_id, 0, ignore)
    assert await other.turn_is_held(conversation_id)
    await lapse()
    assert not await other.turn_is_held(conversation_id)
    await (await other.acquire_turn(conversation_id, 0, ignore)).release()


async def test_who_has_lost_the_turn_writes_nothing_and_frees_nothing(lapse: Lapse, store: Store, other: Store) -> None:
    conversation_id = await started(store)
    lost = await store.acquire_turn(conversation_id, 0, ignore)
    await lapse()
    mine = await other.acquire_turn(conversation_id, 0, ignore)
    with pytest.raises(TurnLostError, match="another process has taken over the turn"):
        await store.update(conversation_id, appended("late"))
    await lost.release()
    assert await other.turn_is_held(conversation_id)
    await other.update(conversation_id, appended("mine"))
    await mine.release()
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "mine"]
    await store.update(conversation_id, appended("a later turn"))


async def test_a_turn_that_another_process_took_and_ended_is_lost_too(lapse: Lapse, store: Store, other: Store) -> None:
    conversation_id = await started(store)
    await store.acquire_turn(conversation_id, 0, ignore)
    await lapse()
    await (await other.acquire_turn(conversation_id, 0, ignore)).release()
    with pytest.raises(TurnLostError):
        await store.update(conversation_id, appended("late"))


async def test_a_lease_that_lapsed_and_that_nobody_took_still_lets_its_holder_write(lapse: Lapse, store: Store) -> None:
    conversation_id = await started(store)
    turn = await store.acquire_turn(conversation_id, 0, ignore)
    await lapse()
    await store.update(conversation_id, appended("paid for"))
    await turn.release()
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "paid for"]


async def test_while_a_turn_runs_its_lease_and_its_conversation_last(
    redis_url: str, store: Store, lapse: Lapse, other: Store, valkey_server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.stores.leases.RENEW_SECONDS", 0.01)
    conversation_id = await started(store)
    turn = await store.acquire_turn(conversation_id, 0, ignore)
    await to_thread.run_sync(valkey_server.command, redis_url, "EXPIRE", key_of(conversation_id), 60)
    await lapse()
    while not await other.turn_is_held(conversation_id):
        pass
    while await to_thread.run_sync(valkey_server.command, redis_url, "TTL", key_of(conversation_id)) <= 60:
        pass
    await turn.release()
    assert not await other.turn_is_held(conversation_id)


async def test_changes_of_two_processes_at_once_are_all_kept(store: Store, other: Store) -> None:
    conversation_id = await started(store)

    async def add(where: Store, name: str) -> None:
        for number in range(10):
            await where.update(conversation_id, appended(f"{name}{number}"))

    async with create_task_group() as group:
        group.start_soon(add, store, "a")
        group.start_soon(add, other, "b")
    texts = texts_of(await store.load(conversation_id))
    assert sorted(texts[1:]) == sorted(f"{name}{number}" for name in "ab" for number in range(10))


async def test_a_conversation_is_gone_with_all_that_is_in_it_when_its_time_is_over(
    redis_url: str, store: Store, clock: Clock
) -> None:
    kept = await started(store)
    short = open_store(redis_url, clock, "alice", timeout_hours=AT_ONCE)
    forgotten, trashed = await started(short, "apples?"), await started(short)
    with suppress(ConversationNotFoundError):
        await short.trash.put(trashed)
    while await short.exists(forgotten) or await short.trash.entries():
        pass
    with pytest.raises(ConversationNotFoundError):
        await short.load(forgotten)
    finder = short.finder
    assert await to_thread.run_sync(finder.ids) == []
    assert (await to_thread.run_sync(finder.page, Wanted("apples"), 9)).found == ()
    assert (await to_thread.run_sync(finder.newest)).found == ()
    assert await short.stamp(None) is None
    assert (await short.size_bytes(), await short.imports(), await short.trash.marks()) == (0, {}, frozenset())
    assert "local" in await to_thread.run_sync(lambda: list(owners_in(redis_url)))
    assert await to_thread.run_sync(store.finder.ids) == [kept]


async def test_what_was_found_before_it_was_forgotten_is_not_found_after(
    redis_url: str, store: Store, valkey_server: Valkey
) -> None:
    first, second = await started(store, "apples?"), await started(store, "more apples?")
    page = await to_thread.run_sync(store.finder.page, Wanted("apples"), 9)
    assert {each.conversation_id for each in page.found} == {first, second}
    await to_thread.run_sync(valkey_server.command, redis_url, "DEL", key_of(first))
    page = await to_thread.run_sync(store.finder.page, Wanted("apples"), 9)
    assert [each.conversation_id for each in page.found] == [second]
    assert [
        each.conversation_id for each in await to_thread.run_sync(lambda: [*store.finder.facts([first, second])])
    ] == [second]


async def test_each_write_begins_the_time_of_a_conversation_anew(
    redis_url: str, store: Store, clock: Clock, valkey_server: Valkey
) -> None:
    conversation_id = await started(store)
    assert await store.forgotten_after(conversation_id) == pytest.approx(clock() + timedelta(hours=3), abs=MINUTE)
    await to_thread.run_sync(valkey_server.command, redis_url, "EXPIRE", key_of(conversation_id), 60)
    assert await store.forgotten_after(conversation_id) == pytest.approx(clock() + MINUTE, abs=MINUTE)
    await store.load(conversation_id)
    assert await store.forgotten_after(conversation_id) == pytest.approx(clock() + MINUTE, abs=MINUTE)
    await store.update(conversation_id, appended("more"))
    assert await store.forgotten_after(conversation_id) == pytest.approx(clock() + timedelta(hours=3), abs=MINUTE)


async def test_a_process_with_a_shorter_time_does_not_hide_what_another_one_keeps(
    redis_url: str, store: Store, clock: Clock, valkey_server: Valkey
) -> None:
    kept = await started(store)
    await started(open_store(redis_url, clock, timeout_hours=AT_ONCE))
    for key in await to_thread.run_sync(valkey_server.command, redis_url, "KEYS", "*"):
        assert await to_thread.run_sync(valkey_server.command, redis_url, "PTTL", key) > 0, key
    assert kept in await to_thread.run_sync(store.finder.ids)


async def test_every_key_ends_by_itself(redis_url: str, store: Store, valkey_server: Valkey) -> None:
    conversation_id, unused = await started(store), await store.reserve()
    await store.calls.claim("name", Call(conversation_id, "2026-01-31T00:00:00.000Z"))
    await store.calls.ask_to_stop(Call(conversation_id, "2026-01-31T00:00:00.000Z"))
    await store.limits.take("local", "questions", Rate(1, 60))
    await store.trash.remove(await store.trash.put(await started(store)))
    await store.acquire_turn(conversation_id, 0, ignore)
    keys = await to_thread.run_sync(valkey_server.command, redis_url, "KEYS", "*")
    assert key_of(unused).encode() in keys
    for key in keys:
        assert await to_thread.run_sync(valkey_server.command, redis_url, "PTTL", key) > 0, key


async def test_a_write_whose_answer_was_lost_is_not_done_twice(
    redis_url: str, store: Store, clock: Clock, valkey_server: Valkey
) -> None:
    conversation_id = await started(store)
    with CuttingProxy(valkey_server.port) as proxy:
        cut = open_store(redis_url.replace(str(valkey_server.port), str(proxy.port)), clock)
        await cut.load(conversation_id)
        proxy.cut_after(b"appended once")
        await cut.update(conversation_id, appended("appended once"))
        assert proxy.cuts == 1
        assert texts_of(await store.load(conversation_id)) == ["Hello?", "appended once"]


async def test_connections_that_broke_meanwhile_are_replaced(
    redis_url: str, store: Store, valkey_server: Valkey
) -> None:
    conversation_id = await started(store)
    await to_thread.run_sync(valkey_server.command, redis_url, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    await store.update(conversation_id, appended("more"))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "more"]
