"""What every store promises of an owner of whom everything is removed."""

import pytest
from anyio import to_thread
from tests.fixtures.stores import NewStore, appended, started

from conversation_mcp.errors import ConversationNotFoundError
from conversation_mcp.records.found import Wanted
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.stores.finder import pages
from conversation_mcp.stores.headway import Headway


async def test_everything_of_an_owner_goes_at_once_and_the_owner_may_come_back(
    store: Store, new_store: NewStore
) -> None:
    conversation_id, reserved = await started(store, "Where is the quagga?"), await store.reserve()
    await store.trash.put(await started(store, "Deleted"))
    await store.calls.ask_to_stop(Call(conversation_id, "2026-01-31T00:00:00.000Z"))
    assert await store.traces()
    running = new_store()
    assert await running.load(conversation_id)
    await store.remove_all()
    assert await store.traces() == []
    await store.remove_all()
    with pytest.raises(ConversationNotFoundError):
        await running.load(conversation_id)
    with pytest.raises(ConversationNotFoundError):
        await running.update(conversation_id, appended("more"))
    assert await running.trash.entries() == ()
    assert not await running.exists(reserved)
    again = await started(running, "And the okapi?")
    assert await to_thread.run_sync(new_store().finder.ids) == [again]
    assert await new_store().load(again)


async def test_what_an_owner_writes_after_coming_back_is_found(store: Store, new_store: NewStore) -> None:
    await started(store, "quagga")
    running = new_store()
    await started(running, "quagga again")
    await store.remove_all()
    await started(new_store(), "zebra")
    again = await started(running, "okapi")
    page = await to_thread.run_sync(lambda: next(pages(new_store().finder, Wanted(query="okapi"), 5, None, Headway())))
    assert [found.conversation_id for found in page.found] == [again]
