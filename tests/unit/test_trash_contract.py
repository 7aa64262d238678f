"""What the trash of every store promises."""

from collections.abc import Awaitable, Callable

import pytest
from anyio import create_task_group, to_thread
from tests.fixtures.stores import UNKNOWN, Clock, NewStore, appended, conversation, ignore, started, texts_of

from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError, FilesystemError, InvalidInputError
from conversation_mcp.records.found import Wanted
from conversation_mcp.records.imported import Imported
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.origins import OWN, mark_of
from conversation_mcp.stores.base import Call, Store


async def ids_in_trash(store: Store) -> list[str]:
    return [trashed.conversation_id for trashed in await store.trash.entries()]


async def test_a_conversation_in_the_trash_is_nowhere_else(store: Store, new_store: NewStore, clock: Clock) -> None:
    conversation_id = await started(store, "Hello?")
    trashed = await store.trash.put(conversation_id)
    assert not await store.exists(conversation_id)
    assert await to_thread.run_sync(store.finder.ids) == []
    for call in (
        store.load(conversation_id),
        store.update(conversation_id, appended("more")),
        store.acquire_turn(conversation_id, 0, ignore),
        store.trash.put(conversation_id),
    ):
        with pytest.raises(ConversationNotFoundError):
            await call
    assert await new_store().trash.entries() == (trashed,)
    assert (trashed.conversation_id, trashed.deleted_at) == (conversation_id, "2026-01-31T00:00:00.000Z")
    assert texts_of(await new_store().trash.load(trashed)) == ["Hello?"]


async def test_the_trash_is_empty_before_anything_was_deleted(store: Store) -> None:
    assert await store.trash.entries() == ()
    with pytest.raises(ConversationNotFoundError):
        await store.trash.put(UNKNOWN)
    with pytest.raises(InvalidInputError):
        await store.trash.put(ConversationId("../x"))


async def test_what_comes_back_is_as_it_was_and_goes_on(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store, "Hello?")
    before = await store.load(conversation_id)
    await store.trash.restore(await store.trash.put(conversation_id))
    assert await store.trash.entries() == ()
    assert await new_store().load(conversation_id) == before
    assert texts_of(await store.update(conversation_id, appended("more"))) == ["Hello?", "more"]


async def test_the_latest_deletion_comes_first(store: Store, clock: Clock) -> None:
    ids = [await started(store) for _ in range(3)]
    for conversation_id in ids:
        clock.move(1)
        await store.trash.put(conversation_id)
    assert await ids_in_trash(store) == ids[::-1]


async def test_one_id_can_be_deleted_many_times_within_a_tick_of_the_clock(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store, "first")
    for text in ("second", "third"):
        trashed = await store.trash.put(conversation_id)
        await store.trash.restore(trashed)
        await new_store().update(conversation_id, appended(text))
    await store.trash.put(conversation_id)
    (trashed,) = await store.trash.entries()
    assert texts_of(await store.trash.load(trashed)) == ["first", "second", "third"]


async def test_what_was_brought_back_or_removed_is_not_found_again(store: Store) -> None:
    conversation_id = await started(store)
    trashed = await store.trash.put(conversation_id)
    await store.trash.restore(trashed)
    for call in (store.trash.load(trashed), store.trash.restore(trashed)):
        with pytest.raises(ConversationNotFoundError):
            await call
    again = await store.trash.put(conversation_id)
    await store.trash.remove(again)
    await store.trash.remove(again)
    assert await store.trash.entries() == ()
    with pytest.raises(ConversationNotFoundError):
        await store.trash.restore(again)


async def test_nothing_is_restored_over_a_conversation_or_a_reserved_id(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store, "deleted")
    trashed = await store.trash.put(conversation_id)
    assert await store.reserve_this(conversation_id)
    with pytest.raises(FilesystemError, match="there is a conversation already"):
        await new_store().trash.restore(trashed)
    await store.create(conversation(conversation_id, "another"))
    with pytest.raises(FilesystemError, match="there is a conversation already"):
        await new_store().trash.restore(trashed)
    assert texts_of(await store.load(conversation_id)) == ["another"]
    assert await store.trash.entries() == (trashed,)


async def test_two_of_one_id_stand_side_by_side_and_each_goes_alone(store: Store) -> None:
    conversation_id = await started(store, "one")
    first = await store.trash.put(conversation_id)
    await store.reserve_this(conversation_id)
    await store.create(conversation(conversation_id, "two"))
    second = await store.trash.put(conversation_id)
    assert await store.trash.entries() == (second, first)
    await store.trash.remove(second)
    assert texts_of(await store.trash.load(first)) == ["one"]


async def test_removing_one_leaves_the_conversation_in_its_place_alone(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store, "old")
    trashed = await store.trash.put(conversation_id)
    await store.reserve_this(conversation_id)
    await store.create(conversation(conversation_id, "new"))
    call = Call(conversation_id, "2026-01-31T00:00:00.000Z")
    await store.calls.claim("a" * 64, call)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    await store.trash.remove(trashed)
    assert await new_store().turn_is_held(conversation_id)
    assert await new_store().calls.find("a" * 64) == call
    await lock.release()
    assert texts_of(await store.load(conversation_id)) == ["new"]


async def test_what_was_deleted_for_good_leaves_a_mark_of_its_origin(store: Store, new_store: NewStore) -> None:
    assert await store.trash.marks() == frozenset()
    own = await started(store, "A secret question")
    imported = await started(store, "Another secret")
    origin = {"from": "chatgpt", "id": "conversation of mine"}
    await store.update(imported, lambda stored, _: stored.changed(imported=Imported.model_validate(origin)))
    expected = {mark_of((OWN, own)), mark_of(("chatgpt", "conversation of mine"))}
    trashed = [await store.trash.put(each) for each in (own, imported)]
    assert await store.trash.marks() == expected
    for each in trashed:
        await store.trash.remove(each)
    assert await new_store().trash.marks() == expected


async def test_what_was_brought_back_has_no_mark(store: Store) -> None:
    conversation_id = await started(store)
    await store.trash.restore(await store.trash.put(conversation_id))
    assert await store.trash.marks() == frozenset()


async def test_removing_frees_the_name_of_the_call_and_leaves_those_of_others(store: Store) -> None:
    gone, other = await started(store), await started(store)
    for key, conversation_id in (("a" * 64, gone), ("b" * 64, other)):
        await store.calls.claim(key, Call(conversation_id, "2026-01-31T00:00:00.000Z"))
        await store.calls.ask_to_stop(Call(conversation_id, "2026-01-31T00:00:00.000Z"))
    await store.trash.remove(await store.trash.put(gone))
    assert await store.calls.find("a" * 64) is None
    assert not await store.calls.asked_to_stop([Call(gone, "2026-01-31T00:00:00.000Z")])
    assert await store.calls.find("b" * 64) is not None
    assert await store.calls.asked_to_stop([Call(other, "2026-01-31T00:00:00.000Z")])


async def test_the_finder_knows_of_every_move(store: Store) -> None:
    conversation_id = await started(store)
    assert await listed(store) == [conversation_id]
    trashed = await store.trash.put(conversation_id)
    assert await listed(store) == []
    await store.trash.restore(trashed)
    assert await listed(store) == [conversation_id]


async def listed(store: Store) -> list[str]:
    """Return what the finder lists without a look at what others have written."""
    await to_thread.run_sync(store.finder.take_in_written)
    page = await to_thread.run_sync(store.finder.page, Wanted(), 10)
    return [found.conversation_id for found in page.found]


async def test_of_many_who_delete_or_restore_at_once_one_succeeds(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store)
    outcomes: list[object] = []

    async def attempt(call: Callable[[], Awaitable[object]]) -> None:
        try:
            outcomes.append(await call())
        except ConversationMCPError as error:
            outcomes.append(type(error))

    async with create_task_group() as group:
        for each in [store, new_store(), new_store()] * 4:
            group.start_soon(attempt, lambda each=each: each.trash.put(conversation_id))
    (trashed,) = await store.trash.entries()
    assert outcomes.count(trashed) == 1
    assert outcomes.count(ConversationNotFoundError) == 11
    outcomes.clear()
    async with create_task_group() as group:
        for each in [store, new_store(), new_store()] * 4:
            group.start_soon(attempt, lambda each=each: each.trash.restore(trashed))
    assert outcomes.count(None) == 1
    assert set(outcomes) == {None, ConversationNotFoundError}
    assert await store.exists(conversation_id)


async def test_updates_and_deletions_at_once_lose_no_update(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store, "Hello?")
    other = new_store()
    done: list[str] = []

    async def update(number: int) -> None:
        try:
            await other.update(conversation_id, appended(str(number)))
        except ConversationNotFoundError:
            return
        done.append(str(number))

    async with create_task_group() as group:
        for number in range(20):
            group.start_soon(update, number)
        group.start_soon(store.trash.put, conversation_id)
    (trashed,) = await store.trash.entries()
    assert texts_of(await store.trash.load(trashed)) == ["Hello?", *done]
