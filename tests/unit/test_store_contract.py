"""What every store promises. A store is tested by being listed in the catalog."""

import threading
from datetime import timedelta

import anyio
import pytest
from anyio import CancelScope, create_task_group, to_thread
from anyio.lowlevel import checkpoint
from tests.fixtures.encrypted_store import SCHEME
from tests.fixtures.stores import BAD_IDS, UNKNOWN, Clock, NewStore, appended, conversation, ignore, started, texts_of

from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError, FilesystemError, InvalidInputError
from conversation_mcp.records.imported import Imported
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_finder, open_store


async def test_what_was_created_is_loaded_by_any_process(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store, "Grüße 😀\0", "日本")
    assert await new_store().load(conversation_id) == conversation(conversation_id, "Grüße 😀\0", "日本")


async def test_ids_differ_while_the_clock_stands_still_or_goes_back(
    store: Store, new_store: NewStore, clock: Clock
) -> None:
    taken = [await each.reserve() for _ in range(20) for each in (store, new_store())]
    clock.move(-0.015)
    taken += [await each.reserve() for _ in range(20) for each in (store, new_store())]
    assert len(set(taken)) == 80


async def test_an_id_tells_the_time_of_the_clock(store: Store) -> None:
    assert await store.reserve() == "20260131-1769817600000"


async def test_an_id_can_tell_another_time_and_is_still_its_own(
    store: Store, new_store: NewStore, clock: Clock
) -> None:
    long_ago = clock() - timedelta(days=365)
    taken = [await each.reserve(long_ago) for each in (store, new_store(), store)]
    assert taken == ["20250131-1738281600000", "20250131-1738281600001", "20250131-1738281600002"]
    assert await store.reserve() == "20260131-1769817600000"


async def test_an_id_of_ones_own_is_reserved_unless_it_is_taken(store: Store, new_store: NewStore) -> None:
    wanted = ConversationId("20250124-1706102400123")
    assert await store.reserve_this(wanted)
    assert not await new_store().reserve_this(wanted)
    await store.unreserve(wanted)
    assert await new_store().reserve_this(wanted)


async def test_conversations_that_were_brought_in_are_found_by_where_they_came_from(
    store: Store, new_store: NewStore
) -> None:
    await started(store, "not imported")
    found: dict[tuple[str, str], str] = {}
    for number, text in enumerate(("short", "long " * 50_000)):
        conversation_id = await store.reserve()
        origin = Imported.model_validate({"from": "elsewhere", "id": f'"{number}"'})
        await store.create(conversation(conversation_id, text).changed(imported=origin))
        await store.update(conversation_id, lambda stored, _: stored.changed(tags=("a",)))
        found["elsewhere", f'"{number}"'] = conversation_id
    assert await new_store().imports() == found


async def test_a_conversation_exists_from_its_creation_on(store: Store) -> None:
    conversation_id = await store.reserve()
    assert not await store.exists(conversation_id)
    await store.create(conversation(conversation_id))
    assert await store.exists(conversation_id)


async def test_an_unknown_id_is_not_found(store: Store) -> None:
    for call in (
        store.load(UNKNOWN),
        store.update(UNKNOWN, appended("more")),
        store.acquire_turn(UNKNOWN, 0, ignore),
    ):
        with pytest.raises(ConversationNotFoundError, match=f"no conversation {UNKNOWN} in "):
            await call
    assert not await store.exists(UNKNOWN)
    assert not await store.turn_is_held(UNKNOWN)


@pytest.mark.parametrize("text", BAD_IDS)
async def test_what_is_no_id_is_refused_by_every_call(store: Store, text: str) -> None:
    given = ConversationId(text)
    for call in (
        store.load(given),
        store.exists(given),
        store.update(given, appended("more")),
        store.create(conversation(UNKNOWN).changed(conversation_id=text)),
        store.acquire_turn(given, 0, ignore),
        store.turn_is_held(given),
    ):
        with pytest.raises(InvalidInputError):
            await call
    with pytest.raises(InvalidInputError):
        store.location(given)


async def test_a_second_creation_does_not_replace_the_first(store: Store) -> None:
    conversation_id = await started(store, "first")
    with pytest.raises(FilesystemError, match="there is a conversation already"):
        await store.create(conversation(conversation_id, "second"))
    assert texts_of(await store.load(conversation_id)) == ["first"]


async def test_an_id_that_is_given_back_is_free_and_one_that_is_in_use_is_not_given_back(
    store: Store, new_store: NewStore
) -> None:
    conversation_id, unused = await started(store), await store.reserve()
    for each in (conversation_id, unused):
        await new_store().unreserve(each)
    assert texts_of(await store.load(conversation_id)) == ["Hello?"]
    with pytest.raises(ConversationNotFoundError):
        await store.acquire_turn(unused, 0, ignore)
    assert await store.reserve_this(unused)


async def test_a_caller_that_does_nothing_but_read_can_be_cancelled(store: Store) -> None:
    conversation_id = await started(store)
    reads = 0
    with CancelScope() as scope:
        while reads < 100:
            await store.load(conversation_id)
            reads += 1
            if reads == 3:
                scope.cancel()
    assert reads == 3


async def test_an_update_starts_from_what_is_stored_now(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store, "Hello?")
    await new_store().update(conversation_id, appended("from elsewhere"))
    updated = await store.update(conversation_id, appended("from here"))
    assert texts_of(updated) == ["Hello?", "from elsewhere", "from here"]
    assert updated == await store.load(conversation_id)


async def test_an_update_sets_the_time_and_the_count(store: Store, clock: Clock) -> None:
    conversation_id = await started(store)
    clock.move(1.5)
    updated = await store.update(conversation_id, appended("more"))
    assert (updated.updated_at, updated.message_count) == ("2026-01-31T00:00:01.500Z", 2)
    assert updated.messages[-1].created_at == updated.updated_at


async def test_the_time_of_the_last_update_never_goes_back(store: Store, clock: Clock) -> None:
    conversation_id = await started(store)
    before = iso(clock())
    clock.move(-3600)
    updated = await store.update(conversation_id, appended("more"))
    assert updated.updated_at == before
    assert texts_of(updated) == ["Hello?", "more"]


async def test_a_change_cannot_give_a_conversation_another_id(store: Store) -> None:
    conversation_id = await started(store)
    updated = await store.update(conversation_id, lambda stored, _: stored.changed(conversation_id=UNKNOWN))
    assert updated.conversation_id == (await store.load(conversation_id)).conversation_id == conversation_id


async def test_a_change_that_fails_changes_nothing(store: Store) -> None:
    conversation_id = await started(store)

    def fail(stored: Conversation, now: str) -> Conversation:
        raise ZeroDivisionError(now)

    with pytest.raises(ZeroDivisionError):
        await store.update(conversation_id, fail)
    assert texts_of(await store.update(conversation_id, appended("more"))) == ["Hello?", "more"]


async def test_fields_that_nobody_knows_survive_updates(store: Store) -> None:
    conversation_id = await store.reserve()
    await store.create(conversation(conversation_id, "Hello?").changed(note={"mine": [None]}))
    await store.update(conversation_id, appended("more"))
    assert (await store.load(conversation_id)).data()["note"] == {"mine": [None]}


async def test_lone_surrogates_are_stored_as_the_replacement_character_and_returned_so(store: Store) -> None:
    conversation_id = await started(store, "a\ud83d")
    updated = await store.update(conversation_id, appended("\udc00b"))
    assert texts_of(updated) == ["a\ufffd", "\ufffdb"]
    assert await store.load(conversation_id) == updated


async def test_fifty_updates_at_once_are_all_stored_in_the_order_of_the_calls(store: Store) -> None:
    conversation_id = await started(store, "Hello?")
    async with create_task_group() as group:
        for number in range(50):
            group.start_soon(store.update, conversation_id, appended(str(number)))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", *map(str, range(50))]


async def test_an_update_that_is_cancelled_in_the_middle_or_while_it_waits_is_stored(store: Store) -> None:
    conversation_id = await started(store)
    reached, go_on = threading.Event(), threading.Event()
    after: list[str] = []

    def slow(stored: Conversation, now: str) -> Conversation:
        reached.set()
        assert go_on.wait(10)
        return appended("slow")(stored, now)

    async def both(scope: CancelScope) -> None:
        with scope:
            async with create_task_group() as group:
                group.start_soon(store.update, conversation_id, slow)
                await to_thread.run_sync(reached.wait)
                group.start_soon(store.update, conversation_id, appended("waiting"))
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
                go_on.set()
            await checkpoint()
            after.append("the caller goes on as if nothing were")

    scope = CancelScope()
    await both(scope)
    assert scope.cancelled_caught
    assert not after
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "slow", "waiting"]


def test_an_unknown_store_is_refused_with_the_names_there_are(clock: Clock) -> None:
    for open_one in (open_store, open_finder):
        with pytest.raises(InvalidInputError, match=r"must be a URL that begins with one of file:.*; got 'cloud'"):
            open_one("cloud://me:secret@host", clock)


def test_an_import_waits_for_another_one_and_says_so(store: Store, new_store: NewStore) -> None:
    told: list[str] = []
    waiting, done = threading.Event(), threading.Event()

    def second() -> None:
        with new_store().import_alone(waiting.set):
            done.set()

    thread = threading.Thread(target=second)
    with store.import_alone(lambda: told.append("waiting for nobody")):
        thread.start()
        assert waiting.wait(60)
        assert not done.is_set()
    thread.join(60)
    assert done.is_set()
    assert told == []


async def test_an_export_is_kept_with_its_conversation(store: Store, new_store: NewStore, store_url: str) -> None:
    conversation_id = await started(store)
    if store_url.startswith(SCHEME):
        with pytest.raises(InvalidInputError, match="the export"):
            await store.keep_export(conversation_id, ".md", "# Trees")
        return
    first = await store.keep_export(conversation_id, ".md", "# Trees")
    assert await new_store().keep_export(conversation_id, ".md", "# Grüße \ud83d") == first
    assert conversation_id in first
    assert await to_thread.run_sync(store.finder.ids) == [conversation_id]
    with pytest.raises(ConversationMCPError):
        await store.keep_export(UNKNOWN, ".md", "# Trees")
    assert not await store.exists(UNKNOWN)


async def test_a_try_leaves_no_trace(store: Store) -> None:
    found = await store.try_out()
    assert (found.state, found.text) == ("ok", "the store writes, locks and reads back")
    assert await to_thread.run_sync(store.finder.ids) == []


async def test_a_stamp_differs_after_each_write_and_only_then(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store, "one?", "One.")
    other = new_store()
    stamps = [await other.stamp(conversation_id), await other.stamp(conversation_id)]
    await store.update(conversation_id, appended("two?"))
    assert stamps[0] == stamps[1] != await other.stamp(conversation_id)
    assert await other.stamp(UNKNOWN) is None


async def test_the_stamp_of_all_differs_when_one_has_come_and_not_when_one_was_written(
    store: Store, new_store: NewStore
) -> None:
    other = new_store()
    nothing = await other.stamp(None)
    conversation_id = await started(store, "one?", "One.")
    await store.update(conversation_id, appended("two?"))
    one = await other.stamp(None)
    await store.update(conversation_id, appended("three?"))
    await (await store.acquire_turn(conversation_id, 0, ignore)).release()
    assert nothing is None
    assert await other.stamp(None) == one
    await started(store, "other?", "Other.")
    assert await other.stamp(None) != one
