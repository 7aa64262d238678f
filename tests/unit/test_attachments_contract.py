"""What every store promises about the contents of files and images that questions name."""

from datetime import timedelta

import anyio
import pytest
from anyio import CancelScope, create_task_group, to_thread
from anyio.lowlevel import checkpoint
from tests.fixtures.stores import BAD_IDS, UNKNOWN, Clock, NewStore, conversation, started

from conversation_mcp.errors import ConversationNotFoundError, InvalidInputError
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Store

BODIES = (b"Gr\xfc\xdfe", b"", b"\0\r\n" * 1000, "日本".encode())
CONTENTS = {hash_of(data): data for data in BODIES}
NO_HASHES = ["", "..", "../conversation.json", "conversation.json", "a" * 63, "A" * 64, "g" * 64, "a" * 64 + "\n", "\0"]


async def test_what_was_put_is_returned_to_any_process_byte_for_byte(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, CONTENTS)
    for each in (store, new_store(), store):
        assert await each.attachments.get(conversation_id, [*CONTENTS]) == CONTENTS
        assert await each.attachments.sizes(conversation_id) == {name: len(data) for name, data in CONTENTS.items()}


async def test_a_finder_without_its_store_reads_them_too(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, CONTENTS)
    reader = new_store().finder.attachments
    assert await to_thread.run_sync(reader.get, conversation_id, [*CONTENTS]) == CONTENTS
    assert await to_thread.run_sync(reader.sizes, conversation_id) == await store.attachments.sizes(conversation_id)


async def test_only_what_is_asked_for_and_kept_is_returned(store: Store) -> None:
    conversation_id, other = await started(store), await started(store)
    first, second, *_ = CONTENTS
    await store.attachments.put(conversation_id, {first: CONTENTS[first]})
    await store.attachments.put(other, {second: CONTENTS[second]})
    assert await store.attachments.get(conversation_id, [second, first, first]) == {first: CONTENTS[first]}
    assert await store.attachments.get(conversation_id, []) == {}
    assert await store.attachments.get(UNKNOWN, [first]) == {}
    assert await store.attachments.sizes(UNKNOWN) == {}


async def test_putting_more_and_the_same_again_keeps_all(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store)
    for name, data in CONTENTS.items():
        await store.attachments.put(conversation_id, {name: data})
        await new_store().attachments.put(conversation_id, {name: data})
    await store.attachments.put(conversation_id, {})
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == CONTENTS


async def test_nothing_is_kept_for_a_conversation_that_is_unknown_or_gone(store: Store, new_store: NewStore) -> None:
    gone = await started(store)
    other = new_store()
    await other.attachments.put(gone, CONTENTS)
    await store.trash.put(gone)
    for conversation_id in (UNKNOWN, gone):
        for contents in (CONTENTS, {}):
            with pytest.raises(ConversationNotFoundError, match=f"no conversation {conversation_id} in "):
                await other.attachments.put(conversation_id, contents)
        assert await other.attachments.get(conversation_id, [*CONTENTS]) == {}
        assert await other.attachments.sizes(conversation_id) == {}
        assert await store.reserve_this(conversation_id)
        assert await other.attachments.sizes(conversation_id) == {}


@pytest.mark.parametrize("name", NO_HASHES)
async def test_a_name_that_is_no_hash_is_refused_and_never_found(store: Store, name: str) -> None:
    conversation_id = await started(store)
    with pytest.raises(ValueError, match=r".*"):
        await store.attachments.put(conversation_id, {**CONTENTS, name: b"x"})
    assert await store.attachments.get(conversation_id, [name]) == {}
    assert await store.attachments.sizes(conversation_id) == {}


async def test_a_hash_of_something_else_is_refused(store: Store) -> None:
    conversation_id = await started(store)
    with pytest.raises(ValueError, match=hash_of(b"one")):
        await store.attachments.put(conversation_id, {hash_of(b"one"): b"other"})
    assert await store.attachments.sizes(conversation_id) == {}


async def test_only_what_is_removed_is_gone_for_every_process(store: Store, new_store: NewStore) -> None:
    conversation_id, other, reader = await started(store), await started(store), new_store()
    first, *rest = CONTENTS
    for each in (conversation_id, other):
        await store.attachments.put(each, CONTENTS)
        await reader.attachments.get(each, [*CONTENTS])
    await store.attachments.remove(conversation_id, [first, "../conversation.json", "a" * 64])
    await store.attachments.remove(UNKNOWN, [first])
    for each in (store, reader, new_store()):
        assert (await each.attachments.get(conversation_id, [*CONTENTS])).keys() == set(rest)
        assert (await each.attachments.sizes(conversation_id)).keys() == set(rest)
        assert (await each.attachments.get(other, [*CONTENTS])).keys() == CONTENTS.keys()
    assert await reader.exists(conversation_id)
    await store.attachments.put(conversation_id, {first: CONTENTS[first]})
    assert (await reader.attachments.sizes(conversation_id)).keys() == CONTENTS.keys()


@pytest.mark.parametrize("text", BAD_IDS)
async def test_what_is_no_id_is_refused(store: Store, text: str) -> None:
    given = ConversationId(text)
    for call in (
        store.attachments.put(given, CONTENTS),
        store.attachments.get(given, [*CONTENTS]),
        store.attachments.sizes(given),
        store.attachments.remove(given, [*CONTENTS]),
    ):
        with pytest.raises(InvalidInputError):
            await call


async def test_contents_that_come_before_their_conversation_stay_with_it(store: Store, new_store: NewStore) -> None:
    conversation_id = await store.reserve()
    await store.attachments.put(conversation_id, CONTENTS)
    assert not await new_store().exists(conversation_id)
    await store.create(conversation(conversation_id, "Hello?"))
    assert await new_store().attachments.get(conversation_id, [*CONTENTS]) == CONTENTS


async def test_an_id_that_is_given_back_leaves_none_of_its_contents(store: Store, new_store: NewStore) -> None:
    unused, used = await store.reserve(), await started(store)
    for each in (unused, used):
        await store.attachments.put(each, CONTENTS)
        await new_store().unreserve(each)
    assert await store.reserve_this(unused)
    assert await store.attachments.get(unused, [*CONTENTS]) == {}
    assert await store.attachments.get(used, [*CONTENTS]) == CONTENTS


async def test_an_id_that_was_never_used_is_swept_with_its_contents(store: Store, clock: Clock) -> None:
    unused, used = await store.reserve(), await started(store)
    for each in (unused, used):
        await store.attachments.put(each, CONTENTS)
    await store.sweep()
    assert await store.attachments.get(unused, [*CONTENTS]) == CONTENTS
    clock.moment += timedelta(days=20_000)  # the file store compares with the times of its disk
    await store.sweep()
    assert await store.attachments.sizes(unused) == {}
    assert await store.reserve_this(unused)
    assert await store.attachments.get(used, [*CONTENTS]) == CONTENTS


async def test_contents_go_to_the_trash_and_come_back_with_their_conversation(
    store: Store, new_store: NewStore
) -> None:
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, CONTENTS)
    trashed = await new_store().trash.put(conversation_id)
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == {}
    await new_store().trash.restore(trashed)
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == CONTENTS


async def test_what_was_removed_for_good_does_not_come_back_with_its_id(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, CONTENTS)
    await store.attachments.get(conversation_id, [*CONTENTS])
    await new_store().trash.remove(await new_store().trash.put(conversation_id))
    assert await store.reserve_this(conversation_id)
    await store.create(conversation(conversation_id, "Hello?"))
    assert await store.attachments.get(conversation_id, [*CONTENTS]) == {}
    assert await store.attachments.sizes(conversation_id) == {}


async def test_of_many_who_put_and_read_at_once_all_succeed(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store)
    many = {hash_of(data): data for data in (b"%d" % number * 1000 for number in range(30))}
    read: list[bool] = []

    async def look(each: Store) -> None:
        found = await each.attachments.get(conversation_id, [*many])
        read.append(all(many[name] == data for name, data in found.items()))

    async with create_task_group() as group:
        for each in [store, new_store(), new_store()] * 4:
            group.start_soon(each.attachments.put, conversation_id, many)
            group.start_soon(look, each)
    assert read == [True] * 12
    assert await store.attachments.get(conversation_id, [*many]) == many


async def test_a_deletion_while_contents_are_put_takes_them_along_or_refuses_them(
    store: Store, new_store: NewStore
) -> None:
    conversation_id = await started(store)
    refused: list[str] = []

    async def put(each: Store, number: int) -> None:
        data = b"%d" % number
        try:
            await each.attachments.put(conversation_id, {hash_of(data): data})
        except ConversationNotFoundError:
            refused.append(hash_of(data))

    async with create_task_group() as group:
        for number in range(40):
            group.start_soon(put, (store, new_store())[number % 2], number)
        group.start_soon(store.trash.put, conversation_id)
    assert await store.reserve_this(conversation_id)
    assert await store.attachments.sizes(conversation_id) == {}
    await store.unreserve(conversation_id)
    (trashed,) = await store.trash.entries()
    await store.trash.restore(trashed)
    kept = await store.attachments.sizes(conversation_id)
    wanted = {hash_of(b"%d" % number) for number in range(40)}
    assert wanted - set(refused) <= kept.keys() <= wanted


async def test_a_put_that_is_cancelled_is_done_and_its_caller_is_not_told_so(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(store)
    many = {hash_of(data): data for data in (b"%d" % number * 1000 for number in range(30))}
    after: list[str] = []
    with CancelScope() as scope:
        async with create_task_group() as group:
            group.start_soon(store.attachments.put, conversation_id, many)
            await checkpoint()
            scope.cancel()
        await checkpoint()
        after.append("the caller goes on as if nothing were")
    assert not after
    with anyio.fail_after(60):
        assert await new_store().attachments.get(conversation_id, [*many]) == many
