"""An import that is done again, after the source or the conversation here has changed; and the way there and back."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from anyio import to_thread
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.conversations import conversations
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in, said_in, store_of, stored_in
from tests.fixtures.exports.own import own_data
from tests.fixtures.exports.sites import chatgpt_entry, chatgpt_node

from conversation_mcp.exporting.base import ExportFormat
from conversation_mcp.exporting.catalog import export_format
from conversation_mcp.exporting.writer import pieces
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn

PING = (chatgpt_node("a", None, "user", "Ping?"), chatgpt_node("b", "a", "assistant", "Pong."))
MORE = (chatgpt_node("c", "b", "user", "And?"), chatgpt_node("d", "c", "assistant", "Ping."))


async def put_and_bring_in(folder: Path, *entries: dict[str, Any], **options: Any) -> dict[str, int]:
    report = await bring_in(put_json(folder / "conversations.json", list(entries)), folder, **options)
    return {name: count for name, count in report.counts.items() if count}


def no_longer_asking(conversation: Conversation) -> Conversation:
    """Return it as it must come in: what was being answered is not being answered here."""
    pending = conversation.pending_turn
    if pending is None or pending.status != "running":
        return conversation
    return conversation.changed(pending_turn=pending.model_copy(update={"status": "interrupted"}))


async def the_one_in(folder: Path) -> Conversation:
    (conversation,) = await stored_in(folder)
    return conversation


async def test_a_conversation_that_has_grown_at_its_source_is_extended(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING))
    assert await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING, *MORE)) == {"extended": 1}
    assert [text for _, text in said_in(await the_one_in(tmp_path))] == ["Ping?", "Pong.", "And?", "Ping."]
    assert await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING)) == {"unchanged": 1}


async def test_a_question_that_has_got_its_answer_meanwhile_is_not_doubled(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING, MORE[0]))
    before = await the_one_in(tmp_path)
    assert before.pending_turn is not None
    assert before.pending_turn.question == "And?"
    assert await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING, MORE[0])) == {"unchanged": 1}
    assert await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING, *MORE)) == {"extended": 1}
    after = await the_one_in(tmp_path)
    assert (after.pending_turn, after.unanswered_turns, after.message_count) == (None, None, 4)


async def test_a_question_that_was_given_up_at_its_source_is_kept_beside_the_messages(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING, MORE[0]))
    other = (chatgpt_node("e", "b", "user", "Else?"), chatgpt_node("f", "e", "assistant", "Else."))
    assert await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING, *other)) == {"extended": 1}
    after = await the_one_in(tmp_path)
    assert after.pending_turn is None
    assert [turn.question for turn in after.unanswered_turns or ()] == ["And?"]


async def test_what_was_followed_up_here_stays_and_what_changed_there_is_told(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING))
    store, conversation_id = store_of(tmp_path), ConversationId((await the_one_in(tmp_path)).conversation_id)
    said = (Message(role="user", content="Mine?"), Message(role="assistant", content="Yours."))
    await store.update(conversation_id, lambda stored, _: stored.changed(messages=(*stored.messages, *said)))
    assert await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING)) == {"unchanged": 1}
    edited = chatgpt_node("b", "a", "assistant", "Pong, edited.")
    for entry in (chatgpt_entry("x", *PING, *MORE), chatgpt_entry("x", PING[0], edited)):
        assert await put_and_bring_in(tmp_path, entry) == {"changed": 1}
    assert [text for _, text in said_in(await the_one_in(tmp_path))] == ["Ping?", "Pong.", "Mine?", "Yours."]


async def test_a_conversation_that_is_being_asked_is_left_alone(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING))
    store, conversation_id = store_of(tmp_path), ConversationId((await the_one_in(tmp_path)).conversation_id)
    asking = PendingTurn(question="Now?", status="running")
    await store.update(conversation_id, lambda stored, _: stored.changed(pending_turn=asking))
    assert await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING, *MORE)) == {"changed": 1}
    assert (await the_one_in(tmp_path)).pending_turn == asking


async def test_a_question_that_was_being_answered_elsewhere_comes_in_as_interrupted_and_grows(tmp_path: Path) -> None:
    asking = own_data(0, "Ping?", "Pong.", pendingTurn={"question": "And?", "status": "running", "responseId": "r"})
    assert await put_and_bring_in(tmp_path, asking) == {"imported": 1}
    pending = (await the_one_in(tmp_path)).pending_turn
    assert pending is not None
    assert (pending.question, pending.status, pending.response_id) == ("And?", "interrupted", "r")
    assert await put_and_bring_in(tmp_path, own_data(0, "Ping?", "Pong.", "And?", "Ping.")) == {"extended": 1}
    after = await the_one_in(tmp_path)
    assert (after.message_count, after.pending_turn, after.unanswered_turns) == (4, None, None)


async def test_conversations_of_one_moment_get_ids_of_their_own(tmp_path: Path) -> None:
    counts = await put_and_bring_in(tmp_path, *(chatgpt_entry(f"c{number}", *PING) for number in range(40)))
    assert counts == {"imported": 40}
    ids = [conversation.conversation_id for conversation in await stored_in(tmp_path)]
    assert ids == [f"20260202-{1770000000500 + number}" for number in range(40)]


async def test_duplicates_in_one_source_are_one(tmp_path: Path) -> None:
    entries = [chatgpt_entry("x", *PING), chatgpt_entry("x", *PING, *MORE)] * 10
    counts = await put_and_bring_in(tmp_path, *entries)
    assert counts["imported"] == 1
    assert (await the_one_in(tmp_path)).message_count == 4


async def test_a_file_that_cannot_be_read_here_is_told_and_the_others_come_in(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING))
    path = Path(store_of(tmp_path).location(ConversationId((await the_one_in(tmp_path)).conversation_id)))
    text = await to_thread.run_sync(path.read_text)
    await to_thread.run_sync(path.write_text, text.replace('"content"', '"contents"'))
    counts = await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING), chatgpt_entry("y", *PING))
    assert counts == {"problem": 1, "imported": 1}


async def test_a_file_is_as_old_as_its_conversation_so_that_lists_need_not_read_all(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING, create_time=1760000000, update_time=1760000500))
    path = Path(store_of(tmp_path).location(ConversationId((await the_one_in(tmp_path)).conversation_id)))
    assert (await to_thread.run_sync(os.stat, path)).st_mtime == 1760000500


async def test_our_own_export_keeps_its_id_and_every_field(tmp_path: Path) -> None:
    facts = {"pendingTurn": {"question": "Next?", "status": "failed", "mine": 1}, "tags": ["a"], "archived": True}
    data = own_data(5, **facts)
    assert await put_and_bring_in(tmp_path, data) == {"imported": 1}
    assert (await the_one_in(tmp_path)).data() == data
    assert await put_and_bring_in(tmp_path, data) == {"unchanged": 1}


async def test_an_id_that_is_taken_by_another_conversation_is_not_taken_from_it(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, own_data(0, "Mine?", "Yes."))
    other = own_data(0, "Other?", "No.") | {"createdAt": "2026-01-31T00:00:00.001Z"}
    assert await put_and_bring_in(tmp_path, other) == {"imported": 1}
    assert await put_and_bring_in(tmp_path, other) == {"unchanged": 1}
    mine, theirs = await stored_in(tmp_path)
    assert said_in(mine)[0][1] == "Mine?"
    assert theirs.data()["imported"] == {"from": "conversation-mcp", "id": "20260131-1769817600000"}
    assert theirs.data()["mine"] == {"kept": [1, None]}


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("source", [chatgpt_entry("x", *PING), own_data(0)], ids=["imported", "our own"])
async def test_what_was_deleted_here_comes_back_only_when_that_is_said(
    tmp_path: Path, source: dict[str, Any], *, for_good: bool
) -> None:
    await put_and_bring_in(tmp_path, source)
    before = await the_one_in(tmp_path)
    trash = store_of(tmp_path).trash
    trashed = await trash.put(ConversationId(before.conversation_id))
    if for_good:
        await trash.remove(trashed)
    assert await put_and_bring_in(tmp_path, source, dry_run=True) == {"deleted": 1}
    assert await put_and_bring_in(tmp_path, source) == {"deleted": 1}
    assert await stored_in(tmp_path) == []
    assert await put_and_bring_in(tmp_path, source, deleted=True) == {"imported": 1}
    assert await the_one_in(tmp_path) == before
    assert await put_and_bring_in(tmp_path, source) == {"unchanged": 1}


async def test_an_id_whose_day_and_milliseconds_disagree_is_kept_where_it_is_free(tmp_path: Path) -> None:
    data = own_data(0) | {"conversationId": "20250124-1706102400123"}
    await put_and_bring_in(tmp_path, data)
    assert (await the_one_in(tmp_path)).data() == data


async def test_what_was_imported_exported_and_imported_is_known_at_its_first_source(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, chatgpt_entry("x", *PING))
    exported = (await the_one_in(tmp_path)).data()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    await put_and_bring_in(elsewhere, exported)
    assert await put_and_bring_in(elsewhere, chatgpt_entry("x", *PING, *MORE)) == {"extended": 1}


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(several=st.lists(conversations(), min_size=1, max_size=3, unique_by=lambda each: each.conversation_id))
def test_json_leads_there_and_back(several: list[Conversation]) -> None:
    back = there_and_back(several, export_format("json"))
    assert back == sorted(map(no_longer_asking, several), key=lambda each: each.conversation_id)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(several=st.lists(conversations(plain=True), min_size=1, max_size=3, unique_by=said_in))
def test_lines_of_messages_lead_there_and_back(several: list[Conversation]) -> None:
    back = there_and_back(several, export_format("jsonl"))
    assert sorted(map(said_in, back)) == sorted(map(said_in, several))


def there_and_back(several: list[Conversation], chosen: ExportFormat) -> list[Conversation]:
    """Export, import into an empty folder, do both again, and return what is there then."""
    with TemporaryDirectory() as name:
        for turn in ("first", "second"):
            folder = Path(name) / turn
            folder.mkdir()
            source = folder / f"export{chosen.suffix}"
            source.write_text(
                "".join(pieces([(each, {}) for each in several], chosen, framed=True)), encoding="utf-8", newline=""
            )
            assert anyio.run(bring_in, source, folder)
            several = anyio.run(stored_in, folder)
            if chosen.name == "json":
                continue
            assert all(json.loads(chosen.render(conversation)) for conversation in several)
        return several
