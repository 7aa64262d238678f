"""Merges: what stands in a conversation that was made of others."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.cli import Here, put_conversation
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in, stored_in

from conversation_mcp.conversations.branches import branched
from conversation_mcp.conversations.merges import dropped_texts, merged
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.costs import total_cost
from conversation_mcp.records.models import Conversation, ConversationId, Message
from conversation_mcp.records.transcript import transcript

FIRST, SECOND, NEW = (ConversationId(f"20260131-176981760000{number}") for number in range(3))
AT = "2026-01-31T00:00:00.000Z"


def data_of(conversation_id: str, *said: str, **facts: Any) -> dict[str, Any]:
    """Return a conversation; a text that begins with `system` is the system's, others are asked and answered in turn."""
    roles = {"s": "system", "q": "user", "a": "assistant"}
    messages = [{"role": roles[text[0]], "content": text} for text in said]
    times = {"createdAt": AT, "updatedAt": AT}
    return {"conversationId": conversation_id, **times, "messageCount": len(messages), **facts, "messages": messages}


def conversation(conversation_id: str, *said: str, **facts: Any) -> Conversation:
    return Conversation.model_validate(data_of(conversation_id, *said, **facts))


def texts(merge: Conversation) -> list[str]:
    return [message.content for message in merge.messages]


def test_the_first_comes_first_and_the_system_text_stands_once() -> None:
    merge = merged([conversation(FIRST, "s", "q1", "a1"), conversation(SECOND, "s", "q2", "a2")], NEW)
    assert texts(merge) == ["s", "q1", "a1", "q2", "a2"]
    assert merge.parents == (
        {"conversationId": FIRST, "messageCount": 3},
        {"conversationId": SECOND, "messageCount": 2},
    )
    assert (merge.conversation_id, merge.created_at) == (NEW, "2026-01-31T00:00:00.002Z")


def test_a_system_text_that_only_the_second_has_comes_first() -> None:
    merge = merged([conversation(FIRST, "q1", "a1"), conversation(SECOND, "s", "q2", "a2")], NEW)
    assert texts(merge) == ["s", "q1", "a1", "q2", "a2"]
    assert [parent["messageCount"] for parent in merge.parents or ()] == [2, 3]


@pytest.mark.parametrize(("other", "is_told"), [("s other", True), ("s", False), (None, False)])
def test_a_merge_tells_whose_system_text_it_does_not_have(other: str | None, is_told: bool) -> None:
    second = conversation(SECOND, *([other] if other else []), "q2", "a2")
    notices = dropped_texts([conversation(FIRST, "q1", "a1"), conversation(FIRST, "s", "q1", "a1"), second])
    assert [SECOND in notice for notice in notices] == [True] * is_told


def test_facts_of_messages_and_files_are_kept() -> None:
    first = data_of(FIRST, "q1", "a1", tags=["one", "both"], mine=1, archived=True)
    source = {"id": 1, "title": "Bees", "snippet": "They dance."}
    first["messages"][1] |= {"sources": [source], "model": "m", "note": "kept"}
    second = conversation(SECOND, "q2", "a2", tags=["both", "two"], title="Second", mine=2, theirs=3)
    merge = merged([Conversation.model_validate(first), second], NEW).data()
    assert merge["messages"][1] == first["messages"][1]
    assert (merge["tags"], merge["title"], merge["mine"], merge["theirs"]) == (["one", "both", "two"], "Second", 1, 3)
    assert "archived" not in merge


def test_questions_without_an_answer_come_along_and_cost_nothing_again() -> None:
    usage = {"usage": {"costUsd": 0.5}}
    given_up = [{"question": "q0", "status": "failed", "error": {"code": "X", "message": "no"}, **usage}]
    first = data_of(
        FIRST, "q1", "a1", pendingTurn={"question": "q9", "status": "interrupted"}, unansweredTurns=given_up
    )
    first["messages"][1] |= usage
    running = conversation(SECOND, "q2", "a2", pendingTurn={"question": "q3", "status": "running"})
    merge = merged([Conversation.model_validate(first), running], NEW)
    turns = merge.unanswered_turns or ()
    assert [(turn.question, turn.status) for turn in turns] == [("q0", "failed"), ("q9", "interrupted")]
    assert merge.pending_turn is None
    assert not total_cost(merge.data())


def test_a_question_without_an_answer_stands_where_it_was_asked() -> None:
    failed = {"question": "before q2?", "status": "failed", "afterMessage": 1}
    waiting = {"question": "after a2?", "status": "interrupted"}
    first = conversation(FIRST, "s", "q1", "a1")
    second = conversation(SECOND, "s", "q2", "a2", unansweredTurns=[failed], pendingTurn=waiting)
    merge = merged([first, second], NEW)
    shown = [entry.content if isinstance(entry, Message) else entry.question for _, entry in transcript(merge)]
    assert shown == ["s", "q1", "a1", "before q2?", "q2", "a2", "after a2?"]


def test_the_answers_of_an_import_keep_where_their_words_have_been() -> None:
    imported = conversation(FIRST, "q1", "a1", imported={"from": "chatgpt", "id": "1"})
    merge = merged([imported, conversation(SECOND, "q2", "a2")], NEW)
    assert merge.messages[1].sent_to == {"chatgpt": "outside"}


def test_a_branch_of_a_merge_is_a_branch_and_no_merge() -> None:
    merge = merged([conversation(FIRST, "q1", "a1"), conversation(SECOND, "q2", "a2")], NEW)
    assert "parents" not in branched(merge, 2, SECOND).data()


@pytest.mark.parametrize("ids", [(FIRST,), (FIRST, FIRST), ()])
def test_a_merge_needs_two_different_conversations(ids: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInputError, match="at least two different conversations"):
        merged([conversation(each, "q1", "a1") for each in ids], NEW)


async def test_a_merge_is_exported_and_imported_with_its_parents(tmp_path: Path) -> None:
    merge = merged([conversation(FIRST, "q1", "a1"), conversation(SECOND, "q2", "a2")], NEW).data()
    merge["messageCount"] = 4
    await bring_in(put_json(tmp_path / "all.json", [merge]), tmp_path)
    (stored,) = await stored_in(tmp_path)
    assert stored.data() == merge


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


def test_the_command_makes_a_merge_that_is_shown_and_exported_as_one(here: Here, tmp_path: Path) -> None:
    files = [put_conversation(tmp_path, each) for each in (FIRST, SECOND)]
    before = [path.read_bytes() for path in files]
    ended = here("merge", FIRST, SECOND)
    assert ended.code == 0
    new, _, what = ended.out.strip().partition("  ")
    assert what == f"merged from {FIRST} and {SECOND}"
    assert f'Follow up with:  conversation-mcp ask -c {new} "…"' in ended.err
    assert f"Merged from {FIRST} (3 messages) and {SECOND} (2 messages)" in here("show", new, "--raw").out
    assert f'mergedFrom: ["{FIRST}", "{SECOND}"]' in here("export", new).out
    assert json.loads(here("show", new, "--json").out)["parents"][1] == {"conversationId": SECOND, "messageCount": 2}
    assert [path.read_bytes() for path in files] == before


def test_the_command_refuses_one_conversation_without_a_trace(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, FIRST)
    ended = here("merge", FIRST, "last")
    assert (ended.code, ended.out) == (2, "")
    assert "merging needs at least two different conversations." in ended.err
    assert [path.name for path in (tmp_path / "conversation-logs").glob("2*")] == [FIRST]
