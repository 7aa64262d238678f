"""Conversations of our own and of the earlier server that are out of order or damaged."""

from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from tests.fixtures.exports.chats import turn
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in, name_of, said_in, stored_in
from tests.fixtures.exports.own import EARLIER_ID, earlier_data, own_data
from tests.fixtures.odd_exports import GOOD, as_json, put_and_bring_in, reasons
from tests.fixtures.stores import tree

from conversation_mcp.errors import InvalidInputError


@pytest.mark.parametrize(
    ("facts", "said", "pending"),
    [
        ({"messages": [*turn("1?", "1."), {"role": "user", "content": "2?"}, *turn("2?", "2.")]}, ("1?", "1.", "2?", "2?", "2."), None),
        ({"messages": [*turn("1?", "1."), {"role": "assistant", "content": "1 again."}]}, ("1?", "1.", "1 again."), None),
        ({"messages": [{"role": "user", "content": "1?"}, {"role": "user", "content": "2?"}]}, (), "2?"),
        ({"messages": [{"role": "user", "content": "1?"}, {"role": "assistant", "content": "<think>only"}]}, (), "1?"),
        ({"conversationId": "../../etc", "messageCount": -5, "createdAt": "no time"}, ("You are a search assistant.", "How tall is the Eiger?", "3,967 m [1]"), "And the Mönch?"),
    ],
)  # fmt: skip
async def test_order_faults_of_the_earlier_server(
    tmp_path: Path, facts: dict[str, Any], said: tuple[str, ...], pending: str | None
) -> None:
    here = tmp_path / "old" / EARLIER_ID
    here.mkdir(parents=True)
    put_json(here / "conversation.json", earlier_data(**facts))
    (here / "status.json").write_bytes(b"{broken")
    await bring_in(tmp_path / "old", tmp_path)
    (conversation,) = await stored_in(tmp_path)
    assert tuple(text for _, text in said_in(conversation)) == said
    assert (conversation.pending_turn.question if conversation.pending_turn else None) == pending
    assert conversation.conversation_id == EARLIER_ID


async def test_our_own_files_that_are_damaged_are_told_by_their_field(tmp_path: Path) -> None:
    broken = [own_data(1, createdAt="never"), own_data(2, tags=5), own_data(3) | {"messages": [{"role": "user"}]}]
    report = await put_and_bring_in(tmp_path, as_json([own_data(0), *broken]), "x.json")
    assert report.counts == {"imported": 1, "problem": 3}
    assert "createdAt must be a time" in reasons(report)[0]
    assert "messages[0].content is missing" in reasons(report)[2]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"messages": "lost"}, "messages must be a list"),
        ({"messages": None}, "messages must be a list"),
        ({"createdAt": 5}, "createdAt must be a string"),
        ({"conversationId": "mine", "updatedAt": "never"}, "updatedAt must be a time"),
    ],
)
async def test_a_damaged_file_of_ours_is_told_as_one(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    report = await put_and_bring_in(tmp_path, as_json(own_data() | change), "x.json")
    assert reason in reasons(report)[0]


@pytest.mark.parametrize(
    "messages",
    [[{"speaker": "me", "words": "Hi there"}], [], {"1": {"text": "Hi there"}}],
    ids=["list", "none", "tree"],
)
async def test_a_conversation_of_another_program_is_not_taken_for_a_damaged_one_of_ours(
    tmp_path: Path, messages: object
) -> None:
    foreign = {"conversationId": "5e55a1c0-0000-4000-8000-000000000001", "title": "Theirs", "messages": messages}
    with pytest.raises(InvalidInputError, match=r"1 file holds something else\. What can be imported: .*own files"):
        await put_and_bring_in(tmp_path, as_json(foreign), "x.json")


async def test_roles_and_contents_of_another_program_come_in_whatever_its_ids_look_like(tmp_path: Path) -> None:
    foreign = {"conversationId": "5e55a1c0", "messages": turn("Hi?", "Hello.")}
    assert (await put_and_bring_in(tmp_path, as_json([foreign]), "x.json")).counts == {"imported": 1}


async def test_a_file_beside_a_conversation_that_has_no_messages_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / EARLIER_ID
    folder.mkdir()
    await to_thread.run_sync((folder / "notes.json").write_bytes, as_json({"createdAt": "2026-01-31T00:00:00.000Z"}))
    await put_and_bring_in(folder, as_json(earlier_data()), "conversation.json")
    assert [name_of(each) for each in await stored_in(folder)] == ["How tall is the Eiger?"]


@pytest.mark.parametrize(
    "text", ["../../x", "/etc/passwd", "CON", "20260131-1769817600000/../x", "", 5, None, ["x"], "\ud800"]
)
async def test_an_id_that_is_a_path_or_nothing_never_becomes_one(tmp_path: Path, text: object) -> None:
    entries = [own_data(conversationId=text), own_data(conversationId=text), GOOD | {"conversation_id": text}]
    await put_and_bring_in(tmp_path, as_json([GOOD | {"conversation_id": text}]))
    await put_and_bring_in(tmp_path, as_json(entries[:2]), "own.json") if isinstance(text, str) else None
    names = {path.split("/")[0] for path in tree(tmp_path / "conversation-logs")}
    assert all(name.startswith(("2026", ".")) for name in names)
    assert {path.name for path in tmp_path.iterdir()} <= {"conversations.json", "own.json", "conversation-logs"}
