"""Branches and merges of conversations whose questions name files, in every store."""

import pytest
from anyio import to_thread
from tests.fixtures.attached import CONTENTS, NEW, OLD, WORD, WORD_TEXT, named, question, stored_with_files
from tests.fixtures.stores import NewStore, started

from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.errors import FilesystemError
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import Conversation, ConversationId, Summary
from conversation_mcp.stores.base import Store


async def nothing(conversation_id: ConversationId) -> None:
    del conversation_id


@pytest.fixture
def tidier(new_store: NewStore) -> Tidier:
    return Tidier(new_store(), nothing, 0)


async def test_a_branch_has_what_its_messages_name_and_no_more(store: Store, tidier: Tidier) -> None:
    original = await stored_with_files(store)
    branch = ConversationId((await tidier.branch(original, 2)).conversation_id)
    kept = {hash_of(data): data for data in (OLD, WORD, WORD_TEXT)}
    assert await store.attachments.get(branch, [*CONTENTS]) == kept
    await store.trash.remove(await store.trash.put(original))
    assert await store.attachments.get(branch, [*CONTENTS]) == kept


async def test_a_merge_has_what_the_messages_of_all_name(store: Store, tidier: Tidier) -> None:
    plain, first = await started(store, "Hello?", "Hi."), await stored_with_files(store)
    text = b"only in the second"
    second = await stored_with_files(store, question("This?", named("/other", text)))
    await store.attachments.put(second, {hash_of(text): text})
    opened, _ = await tidier.merge([plain, first, second])
    merge = ConversationId(opened.conversation_id)
    everything = {**CONTENTS, hash_of(text): text}
    assert await store.attachments.get(merge, [*everything]) == everything


async def test_a_merge_moves_the_numbers_of_earlier_versions(store: Store, tidier: Tidier) -> None:
    opened, _ = await tidier.merge([await started(store, "Hello?", "Hi."), await stored_with_files(store)])
    files = opened.messages[4].files
    assert files is not None
    assert [(file.sha256, file.changed_since) for file in files] == [(hash_of(NEW), 3), (None, None)]
    assert "changedSince" not in files[1].data()


async def test_what_is_missing_in_the_original_is_missing_in_the_branch(store: Store, tidier: Tidier) -> None:
    conversation_id = await store.reserve()
    with_one = question("This?", named("/lost", b"lost"))
    data = {"messageCount": 2, "messages": [with_one, {"role": "assistant", "content": "So."}]}
    facts = {"conversationId": conversation_id, "createdAt": "2026-01-31T00:00Z", "updatedAt": "2026-01-31T00:00Z"}
    await store.create(Conversation.model_validate({**facts, **data}, by_alias=True, by_name=False))
    branch = await tidier.branch(conversation_id, 2)
    assert await store.attachments.sizes(ConversationId(branch.conversation_id)) == {}


async def test_a_branch_that_cannot_be_written_leaves_nothing(
    store: Store, new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = await stored_with_files(store)
    full = new_store()

    async def fail(conversation: Conversation) -> None:
        raise FilesystemError(conversation.conversation_id, "no space left on the device")

    monkeypatch.setattr(full, "create", fail)
    with pytest.raises(FilesystemError):
        await Tidier(full, nothing, 0).branch(original, 2)
    following = ConversationId("20260131-1769817600001")
    assert await to_thread.run_sync(store.finder.ids) == [original]
    assert await store.attachments.sizes(following) == {}
    assert await store.reserve_this(following)


async def test_a_branch_keeps_summaries_of_its_own_messages_without_their_cost(store: Store, tidier: Tidier) -> None:
    original = await stored_with_files(store)
    summaries = tuple(
        Summary.model_validate({"content": "So far.", "firstMessage": 1, "lastMessage": last, "usage": {"costUsd": 1}})
        for last in (2, 4)
    )
    await store.update(original, lambda stored, _: stored.changed(summaries=summaries))
    branch = await tidier.branch(original, 2)
    merge, _ = await tidier.merge([original, branch.conversation_id])
    assert branch.data()["summaries"] == [{"content": "So far.", "firstMessage": 1, "lastMessage": 2}]
    assert merge.summaries is None
