"""Redaction of what was stored before it was on, over every store."""

from typing import Any, cast

import pytest
from anyio import to_thread
from tests.fixtures.sensitive import SECRETS
from tests.fixtures.stores import NewStore, started

from conversation_mcp.conversations.stored_redaction import StoredRedaction
from conversation_mcp.errors import ConversationBusyError
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.redacting.kinds import SensitiveKind
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.stores.base import Store

ALL = TextRedaction(cast("tuple[SensitiveKind, ...]", tuple(SECRETS)))
CARD, MAIL = SECRETS["cards"][0], SECRETS["emails"][0]
BODY, CLEAN = f"Charge {CARD}.".encode(), b"Charge [card]."
PDF = b"%PDF-1.7\n\xff\xfe"
FILES = [
    {"path": "/a/mail.txt", "sha256": hash_of(BODY), "bytes": len(BODY), "sent": "whole"},
    {"path": "/a/b.pdf", "sha256": hash_of(PDF), "text": hash_of(BODY), "pages": 1, "asPdf": True, "sent": "whole"},
]
STEP = {"workflow": "debug", "run": 1, "stepNumber": 1, "totalSteps": 1, "next": False, "step": CARD, "findings": MAIL}
FACTS: dict[str, Any] = {
    "title": f"Card {CARD}",
    "tags": [MAIL],
    "summary": f"Ask {MAIL}.",
    "metadata": {"of": MAIL},
    "unansweredTurns": [{"question": CARD, "status": "failed", "partialText": MAIL}],
    "pendingTurn": {"question": MAIL, "status": "interrupted", "responseId": "resp_1"},
    "summaries": [{"content": MAIL, "firstMessage": 1, "lastMessage": 1}],
    "workflowSteps": [STEP],
    "memories": [{"content": CARD}, {"memoryId": "mem-1", "content": "Trees"}],
}


async def kept(store: Store) -> ConversationId:
    """Store a conversation with secrets in every place."""
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, {hash_of(BODY): BODY, hash_of(PDF): PDF})

    def change(stored: Conversation, _now: str) -> Conversation:
        messages = [
            {"role": "user", "content": CARD, "files": FILES},
            {"role": "assistant", "content": "Fine.", "reasoning": MAIL, "sources": [{"id": 1, "snippet": MAIL}]},
        ]
        given = stored.data() | FACTS | {"messages": messages, "messageCount": 2}
        return Conversation.model_validate(given, by_alias=True, by_name=False)

    await store.update(conversation_id, change)
    return conversation_id


async def test_looking_counts_and_changes_nothing(store: Store) -> None:
    conversation_id, harmless = await kept(store), await started(store)
    before = await store.load(conversation_id)
    counts = await StoredRedaction(store, ALL).look(conversation_id)
    assert counts == {"cards": 6, "emails": 9}
    assert not await StoredRedaction(store, ALL).look(harmless)
    assert await store.load(conversation_id) == before
    assert not await StoredRedaction(store, TextRedaction(("keys",))).look(conversation_id)


async def test_everything_of_a_conversation_is_redacted_and_a_second_time_nothing(
    store: Store, new_store: NewStore
) -> None:
    conversation_id = await kept(store)
    redaction = StoredRedaction(store, ALL)
    looked = await redaction.look(conversation_id)
    assert await redaction.redact(conversation_id) == looked
    await redaction.forget({conversation_id})
    after = await new_store().load(conversation_id)
    assert [secret for known in SECRETS.values() for secret in known if secret in str(after.data())] == []
    assert after.pending_turn
    assert after.pending_turn.response_id == "resp_1"
    assert await redaction.redact(conversation_id) == {}
    assert (await new_store().load(conversation_id)).updated_at == after.updated_at
    page = await to_thread.run_sync(new_store().finder.read, conversation_id)
    assert MAIL.encode() not in page


async def test_files_are_kept_redacted_and_a_pdf_as_its_text(store: Store, new_store: NewStore) -> None:
    conversation_id = await kept(store)
    await StoredRedaction(store, ALL).redact(conversation_id)
    attachments = new_store().attachments
    assert await attachments.sizes(conversation_id) == {hash_of(CLEAN): len(CLEAN)}
    assert await attachments.get(conversation_id, [hash_of(CLEAN)]) == {hash_of(CLEAN): CLEAN}
    named = (await new_store().load(conversation_id)).messages[0].files or ()
    assert [(one.path, one.sha256, one.text, one.as_pdf) for one in named] == [
        ("/a/mail.txt", hash_of(CLEAN), None, None),
        ("/a/b.pdf", hash_of(CLEAN), None, None),
    ]


async def test_what_a_stopped_run_left_is_found_again(store: Store) -> None:
    conversation_id = await started(store)
    await store.attachments.put(conversation_id, {hash_of(BODY): BODY, hash_of(PDF): PDF})
    redaction = StoredRedaction(store, ALL)
    assert await redaction.redact(conversation_id) == {"cards": 1}
    assert hash_of(BODY) not in await store.attachments.sizes(conversation_id)
    assert hash_of(PDF) in await store.attachments.sizes(conversation_id)
    assert await redaction.look(conversation_id) == {}


async def test_ids_by_which_things_are_found_stay(store: Store) -> None:
    conversation_id = await kept(store)
    before = [memory.id for memory in (await store.load(conversation_id)).memories or ()]
    await StoredRedaction(store, ALL).redact(conversation_id)
    after = (await store.load(conversation_id)).memories or ()
    assert [memory.id for memory in after] == before
    assert [memory.content for memory in after] == ["[card]", "Trees"]


async def test_a_conversation_that_is_being_answered_is_left_for_the_next_time(
    store: Store, new_store: NewStore
) -> None:
    conversation_id = await kept(store)
    lock = await new_store().acquire_turn(conversation_id, 0, silent_wait)
    with pytest.raises(ConversationBusyError):
        await StoredRedaction(store, ALL).redact(conversation_id)
    await lock.release()
    assert await StoredRedaction(store, ALL).redact(conversation_id)


async def test_the_trash_is_looked_at(store: Store) -> None:
    conversation_id = await kept(store)
    looked = await StoredRedaction(store, ALL).look(conversation_id)
    trashed = await store.trash.put(conversation_id)
    assert await StoredRedaction(store, ALL).look_at_trashed(trashed) == looked


async def silent_wait(_seconds: float) -> None:
    """Report to nobody."""
