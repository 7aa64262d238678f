"""What the register of calls of every store promises."""

from datetime import timedelta

from anyio import create_task_group
from tests.fixtures.library import MUCH_LATER
from tests.fixtures.stores import Clock, NewStore, ignore, started

from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call, Store

KEY, OTHER_KEY = "a" * 64, "b" * 64
CALL = Call(ConversationId("20260131-1769817600000"), "2026-01-31T00:00:00.000Z")
LATER = Call(CALL.conversation_id, "2026-01-31T00:00:01.000Z")


async def test_a_name_is_in_one_pair_of_hands_until_it_is_given_back(store: Store, rival: Store) -> None:
    held, found = await store.calls.take(KEY)
    assert held
    assert found is None
    assert await rival.calls.take(KEY) == (None, None)
    other, _ = await rival.calls.take(OTHER_KEY)
    assert other
    await held.release()
    again, _ = await rival.calls.take(KEY)
    assert again


async def test_a_name_that_was_given_back_twice_stays_with_whoever_has_it_now(store: Store, rival: Store) -> None:
    first, _ = await store.calls.take(KEY)
    assert first
    await first.release()
    second, _ = await rival.calls.take(KEY)
    assert second
    await first.release()
    assert await store.calls.take(KEY) == (None, None)


async def test_of_many_who_want_a_name_at_once_one_gets_it(store: Store, new_store: NewStore) -> None:
    taken: list[object] = []

    async def take(each: Store) -> None:
        held, _ = await each.calls.take(KEY)
        taken.append(held)

    async with create_task_group() as group:
        for each in [store, new_store(), new_store()] * 4:
            group.start_soon(take, each)
    assert len(taken) == 12
    assert taken.count(None) == 11


async def test_a_name_that_is_free_and_stands_for_nothing_is_taken_and_recorded_in_one_step(
    store: Store, rival: Store
) -> None:
    held, found = await store.calls.take(KEY, CALL)
    assert held
    assert found is None
    assert await rival.calls.take(KEY, LATER) == (None, CALL)
    await held.release()
    again, found = await rival.calls.take(KEY, LATER)
    assert again
    assert found == CALL
    assert await store.calls.find(KEY) == CALL


async def test_a_name_in_other_hands_is_not_recorded(store: Store, rival: Store) -> None:
    held, _ = await store.calls.take(KEY)
    assert held
    assert await rival.calls.take(KEY, CALL) == (None, None)
    assert await store.calls.find(KEY) is None


async def test_what_a_name_stands_for_is_known_to_every_process(store: Store, new_store: NewStore) -> None:
    held, _ = await store.calls.take(KEY)
    assert held
    await store.calls.claim(KEY, CALL)
    assert await new_store().calls.take(KEY) == (None, CALL)
    await held.release()
    assert await new_store().calls.find(KEY) == CALL
    assert await store.calls.find(OTHER_KEY) is None


async def test_a_name_can_come_to_stand_for_a_later_call_or_for_a_failure_that_was_told(store: Store) -> None:
    await store.calls.claim(KEY, CALL)
    await store.calls.claim(KEY, LATER)
    assert repr(await store.calls.find(KEY)) == repr(LATER)
    told = Call(LATER.conversation_id, LATER.started_at, is_told=True)
    await store.calls.claim(KEY, told)
    found = await store.calls.find(KEY)
    assert found == LATER
    assert repr(found) == repr(told)


async def test_a_delivered_call_is_forgotten_and_a_later_one_of_the_same_name_is_not(
    store: Store, new_store: NewStore
) -> None:
    await store.calls.claim(KEY, LATER)
    await new_store().calls.forget(KEY, CALL)
    assert await store.calls.find(KEY) == LATER
    await new_store().calls.forget(KEY, LATER)
    assert await store.calls.find(KEY) is None
    await store.calls.forget(KEY, LATER)


async def test_a_call_is_forgotten_after_a_day(store: Store, clock: Clock) -> None:
    await store.calls.claim(KEY, CALL)
    clock.moment = MUCH_LATER
    assert await store.calls.find(KEY) is None
    held, found = await store.calls.take(KEY)
    assert held
    assert found is None


async def test_a_wish_to_stop_is_heard_once_and_by_the_turn_that_is_meant(store: Store, new_store: NewStore) -> None:
    assert not await store.calls.asked_to_stop([CALL])
    await new_store().calls.ask_to_stop(CALL)
    assert await store.calls.asked_to_stop([CALL])
    assert not await store.calls.asked_to_stop([CALL])
    await new_store().calls.ask_to_stop(CALL)
    assert not await store.calls.asked_to_stop([LATER])


async def test_of_many_turns_those_that_are_to_be_stopped_are_told_at_once(store: Store, new_store: NewStore) -> None:
    calls = [Call(await store.reserve(), "2026-01-31T00:00:00.000Z") for _ in range(5)]
    for call in calls[1:4:2]:
        await new_store().calls.ask_to_stop(call)
    assert list(await store.calls.asked_to_stop(calls)) == calls[1:4:2]
    assert not await store.calls.asked_to_stop(calls)


async def test_sweeping_takes_nothing_that_is_in_use(store: Store, new_store: NewStore, clock: Clock) -> None:
    conversation_id, reserved = await started(store), await store.reserve()
    turn = await store.acquire_turn(conversation_id, 0, ignore)
    held, _ = await store.calls.take(KEY)
    await store.calls.claim(KEY, CALL)
    clock.move(timedelta(minutes=1).total_seconds())
    await new_store().sweep()
    assert await new_store().calls.take(KEY) == (None, CALL)
    assert await new_store().turn_is_held(conversation_id)
    assert await new_store().exists(conversation_id)
    assert not await new_store().reserve_this(reserved)
    assert held
    await held.release()
    await turn.release()
