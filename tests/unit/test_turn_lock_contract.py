"""What the turn locks of every store promise."""

import pytest
from anyio import Event, create_task_group
from anyio.lowlevel import checkpoint
from tests.fixtures.stores import appended, conversation, ignore, started

from conversation_mcp.errors import (
    ConversationBusyError,
    ConversationNotFoundError,
)
from conversation_mcp.stores.base import Store


async def test_a_reserved_id_can_be_locked_before_there_is_a_conversation_to_read(store: Store) -> None:
    conversation_id = await store.reserve()
    for call in (store.load(conversation_id), store.update(conversation_id, appended("more"))):
        with pytest.raises(ConversationNotFoundError):
            await call
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    await store.create(conversation(conversation_id))
    assert await store.turn_is_held(conversation_id)
    await lock.release()


async def test_a_turn_lock_keeps_others_out_until_it_is_released(store: Store, rival: Store) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    assert await rival.turn_is_held(conversation_id)
    with pytest.raises(ConversationBusyError):
        await rival.acquire_turn(conversation_id, 0, ignore)
    await lock.release()
    assert not await rival.turn_is_held(conversation_id)
    await (await rival.acquire_turn(conversation_id, 0, ignore)).release()


async def test_reads_and_updates_do_not_wait_for_a_turn(store: Store) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    await store.update(conversation_id, appended("more"))
    assert (await store.load(conversation_id)).message_count == 2
    await lock.release()


async def test_a_second_turn_is_told_that_it_waits_and_then_gets_the_lock(store: Store, rival: Store) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    told = Event()

    async def on_wait(waited_seconds: float) -> None:
        assert waited_seconds >= 0
        told.set()

    async def second() -> None:
        await (await rival.acquire_turn(conversation_id, 10, on_wait)).release()

    async with create_task_group() as group:
        group.start_soon(second)
        await told.wait()
        await lock.release()


async def test_a_wait_that_takes_too_long_ends_with_busy(store: Store, rival: Store) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    with pytest.raises(ConversationBusyError, match=f"another follow-up on {conversation_id} is still running"):
        await rival.acquire_turn(conversation_id, 0.05, ignore)
    await lock.release()
    await (await store.acquire_turn(conversation_id, 0, ignore)).release()


async def test_turns_of_one_process_come_in_the_order_of_the_calls(store: Store) -> None:
    conversation_id = await started(store)
    order: list[int] = []

    async def turn(number: int) -> None:
        lock = await store.acquire_turn(conversation_id, 10, ignore)
        order.append(number)
        await checkpoint()
        await lock.release()

    async with create_task_group() as group:
        for number in range(20):
            group.start_soon(turn, number)
    assert order == list(range(20))


async def test_a_waiter_that_is_cancelled_leaves_nothing_held(store: Store, rival: Store) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)

    async with create_task_group() as group:

        async def give_up(waited_seconds: float) -> None:
            group.cancel_scope.cancel()

        group.start_soon(rival.acquire_turn, conversation_id, 10, give_up)
    await lock.release()
    await (await store.acquire_turn(conversation_id, 0, ignore)).release()


async def test_a_listener_that_fails_ends_the_wait_and_leaves_nothing_held(store: Store, rival: Store) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)

    async def fail(waited_seconds: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await rival.acquire_turn(conversation_id, 20, fail)
    await lock.release()
    await (await store.acquire_turn(conversation_id, 0, ignore)).release()


async def test_a_lock_is_released_by_any_task_twice_and_while_being_cancelled(store: Store) -> None:
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    async with create_task_group() as group:
        group.cancel_scope.cancel()
        await lock.release()
    await lock.release()
    again = await store.acquire_turn(conversation_id, 0, ignore)
    await lock.release()
    assert await store.turn_is_held(conversation_id)
    await again.release()
