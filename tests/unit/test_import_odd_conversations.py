"""Conversations of other programs that are told in odd ways: what can be read is, and the rest is counted."""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.exports.chats import sharegpt, turn
from tests.fixtures.exports.imported import said_in, stored_in
from tests.fixtures.exports.programs import claude_code_lines
from tests.fixtures.exports.sites import chatgpt_entry, chatgpt_node, claude_entry, claude_message
from tests.fixtures.odd_exports import GOOD, NOTHING, PING, as_json, put_and_bring_in, reasons

CYCLE = {
    "a": {"id": "a", "parent": "b", "message": PING[0]["message"]},
    "b": {"id": "b", "parent": "a", "message": PING[1]["message"]},
}
ODD_CHATGPT: list[tuple[dict[str, Any], int]] = [
    (chatgpt_entry("x", mapping={}), 0),
    (GOOD | {"current_node": None}, 2),
    (GOOD | {"current_node": "unknown"}, 2),
    (GOOD | {"current_node": ["b"]}, 2),
    (GOOD | {"mapping": CYCLE}, 2),
    (GOOD | {"mapping": {**GOOD["mapping"], "b": PING[1] | {"parent": "unknown"}}}, 1),
    (GOOD | {"mapping": {"a": PING[0] | {"children": ["b", 7]}, "b": PING[1] | {"parent": "unknown"}}}, 2),
    (GOOD | {"mapping": {"a": PING[0] | {"children": ["b"]}, "b": {"message": PING[1]["message"]}}}, 2),
    (GOOD | {"mapping": {"r": {}, "a": PING[0] | {"parent": "r"}, "b": PING[1]}, "current_node": "r"}, 2),
    (GOOD | {"mapping": {"a": PING[0], "x": {}, "y": None, "z": [], "b": PING[1]}}, 2),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "assistant", None, {"content_type": "odd"}, 7, "Yes.")), 3),
    (chatgpt_entry("x", *PING, {"id": "c", "parent": "b", "message": {"content": {"parts": ["who?"]}}}), 2),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "assistant", content="text")), 3),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "assistant", content=["text", {"text": "text"}])), 3),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "assistant", content={"parts": "text"})), 3),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "assistant", content={"content_type": "text", "parts": []})), 2),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "critic", "Hm.")), 2),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "assistant", content={"content_type": "code", "text": "x=1"})), 3),
    (GOOD | {"title": None, "create_time": None, "update_time": "soon", "conversation_id": None, "id": 5}, 2),
    (GOOD | {"title": "a/../b\n" + "x" * 10_000, "create_time": -1, "update_time": 253402300799}, 2),
    (GOOD | {"create_time": 1770000000500, "update_time": 1e308}, 2),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "messages"), ODD_CHATGPT)
async def test_odd_conversations_of_chatgpt(tmp_path: Path, entry: dict[str, Any], messages: int) -> None:
    report = await put_and_bring_in(tmp_path, as_json([entry]))
    stored = await stored_in(tmp_path)
    assert sum(len(conversation.messages) for conversation in stored) == messages
    assert report.counts["imported" if messages else "empty"] == 1


@pytest.mark.parametrize(
    ("text", "metadata", "shown", "sources"),
    [
        ("A.【1†src】 B.【0†b】", {"citations": [{"start_ix": 9, "metadata": {"url": "https://b.org"}}, {"start_ix": 2, "metadata": {"url": "https://a.org", "title": "A"}}]}, "A.[1] B.[2]", ["https://a.org", "https://b.org"]),
        ("A.\ue200cite\ue202turn0search0\ue202turn0search1\ue201", {"content_references": [{"matched_text": "\ue200cite\ue202turn0search0\ue202turn0search1\ue201", "items": [{"url": "https://a.org"}, {"url": "https://b.org"}]}]}, "A.[1][2]", ["https://a.org", "https://b.org"]),
        ("A.\ue200cite\ue202x\ue201 B\ue200entity\ue202y\ue201", {"content_references": None}, "A. By", []),
        ("A.【7†gone】", {}, "A.", []),
        ("【no mark】", {}, "【no mark】", []),
        ("A.", {"content_references": [{"url": "javascript:x"}, 5], "citations": [None]}, "A.", ["javascript:x"]),
    ],
)  # fmt: skip
async def test_marks_of_sources_become_ours_or_go(
    tmp_path: Path, text: str, metadata: dict[str, Any], shown: str, sources: list[str]
) -> None:
    entry = chatgpt_entry("x", PING[0], chatgpt_node("b", "a", "assistant", text, metadata=metadata))
    await put_and_bring_in(tmp_path, as_json([entry]))
    (conversation,) = await stored_in(tmp_path)
    assert conversation.messages[1].content == shown
    assert [source.url for source in conversation.messages[1].sources or ()] == sources


async def test_marks_that_point_at_what_a_tool_found(tmp_path: Path) -> None:
    pages = {
        "_cite_metadata": {"metadata_list": [{"url": "https://zero.org"}, {"url": "https://one.org", "title": "1"}]}
    }
    nodes = (
        PING[0],
        chatgpt_node("t", "a", "tool", "quotes", metadata=pages),
        chatgpt_node("b", "t", "assistant", "So.【1†one】"),
    )
    await put_and_bring_in(tmp_path, as_json([chatgpt_entry("x", *nodes)]))
    (conversation,) = await stored_in(tmp_path)
    assert conversation.messages[1].content == "So.[1]"
    assert [source.url for source in conversation.messages[1].sources or ()] == ["https://one.org"]


ODD_CLAUDE: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        (claude_entry("x"), ()),
        (claude_entry("x", {}, {"sender": 5}, {"uuid": None, "sender": "human", "content": [None]}), ()),
        (claude_entry("x", claude_message("a", "human", "Hi", content="no list"), claude_message("b", "assistant", "Yes", content=[])), ("no list", "Yes")),
        (claude_entry("x", claude_message("a", "human", "", attachments=[{"extracted_content": "pasted", "file_name": "a.txt"}]), claude_message("b", "assistant", "Yes")), ("a.txt:\n\n```\npasted\n```", "Yes")),
        (claude_entry("x", claude_message("a", "human", "Hi", "gone"), claude_message("b", "assistant", "Yes", "a")), ("Hi", "Yes")),
        (claude_entry("x", claude_message("a", "human", "Hi", "b"), claude_message("b", "assistant", "Yes", "a")), ("Hi", "Yes")),
        (claude_entry("x", claude_message("a", "human", '[{"type": "text"}]'), claude_message("b", "assistant", "Yes"), name="", created_at=5), ('[{"type": "text"}]', "Yes")),
        (claude_entry("x", claude_message("a", "human", "", files=[{"file_name": "cat.png"}]), claude_message("b", "assistant", "A cat.")), ("(attachment not imported: cat.png)", "A cat.")),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "said"), ODD_CLAUDE)
async def test_odd_conversations_of_claude(tmp_path: Path, entry: dict[str, Any], said: tuple[str, ...]) -> None:
    await put_and_bring_in(tmp_path, as_json([entry]))
    stored = await stored_in(tmp_path)
    assert [text for conversation in stored for _, text in said_in(conversation)] == list(said)


@pytest.mark.parametrize("place", [0, 4, 99])
async def test_a_bad_line_of_claude_code_is_skipped_wherever_it_is(tmp_path: Path, place: int) -> None:
    lines = [as_json(line) for line in claude_code_lines()]
    lines.insert(place, b'{"type": "user", "uuid": "u9", "mess')
    report = await put_and_bring_in(tmp_path, b"\n".join(lines), "session.jsonl")
    assert (
        reasons(report)
        == [f"session.jsonl, line {min(place, len(lines) - 1) + 1}: is not valid JSON at character 37 of it"]
        or place == 99
    )
    assert report.counts == {"problem": 1, "imported": 1}


async def test_lines_of_claude_code_that_lost_their_line_end_or_are_of_unknown_kinds(tmp_path: Path) -> None:
    lines = [as_json(line) for line in claude_code_lines()]
    odd: list[Any] = [
        {"type": "new-kind", "sessionId": "s1"},
        {"type": 5},
        {"type": "user"},
        {"type": "assistant", "message": []},
    ]
    data = b"\n".join([*lines[:4], lines[4] + lines[5], *lines[6:], *map(as_json, odd), b""])
    report = await put_and_bring_in(tmp_path, data, "session.jsonl")
    assert report.counts == {"imported": 1}


async def test_a_session_that_was_compacted_keeps_what_came_before(tmp_path: Path) -> None:
    def line(name: str, parent: str | None, role: str, text: str, **facts: object) -> bytes:
        record = {"type": role, "uuid": name, "parentUuid": parent, "sessionId": "s", "message": {"content": text}}
        return as_json(record | facts)

    data = [
        line("1", None, "user", "One?"),
        line("2", "1", "assistant", "One."),
        as_json({"type": "system", "subtype": "compact_boundary", "sessionId": "s"}),
        line("3", None, "user", "A summary of it all.", isCompactSummary=True),
        line("4", "3", "user", "Two?"),
        line("5", "4", "assistant", "Two."),
        line("6", "4", "assistant", "Two, otherwise."),
    ]
    report = await put_and_bring_in(tmp_path, b"\n".join(data), "session.jsonl")
    (conversation,) = await stored_in(tmp_path)
    assert [text for _, text in said_in(conversation)] == ["One?", "One.", "Two?", "Two, otherwise."]
    assert +report.left_out == {"hidden messages": 1, "other branches": 1}


async def test_a_file_with_a_helpers_words_only_is_no_conversation(tmp_path: Path) -> None:
    lines = [as_json(line | {"isSidechain": True}) for line in claude_code_lines() if "uuid" in line]
    report = await put_and_bring_in(tmp_path, b"\n".join(lines), "agent-1.jsonl")
    assert (report.counts["imported"], await stored_in(tmp_path)) == (0, [])


async def test_odd_lines_of_messages_are_counted(tmp_path: Path) -> None:
    lines = [
        b"", b"# a comment", as_json({"messages": turn("One?", "One.")}), b"[1, 2]", b"   ", as_json({"messages": "none"}),
        as_json({"messages": [None, 5, {"role": 5, "content": 5}, {"role": "critic", "content": "Hm."}, {"role": "user", "content": " "}]}),
        as_json({"messages": [{"role": "user", "content": "Alone?"}]}), as_json({"messages": turn("One?", "One.")}),
        as_json({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": NOTHING}]}, {"role": "assistant", "content": "A cat."}]}),
    ]  # fmt: skip
    report = await put_and_bring_in(tmp_path, b"\r\n".join(lines), "x.jsonl")
    assert report.counts == {"imported": 3, "problem": 3, "empty": 1, "unchanged": 1}
    alone = next(conversation for conversation in await stored_in(tmp_path) if not conversation.messages)
    assert alone.pending_turn is not None
    assert (alone.pending_turn.question, alone.pending_turn.status) == ("Alone?", "interrupted")


async def test_turns_of_sharegpt_in_another_order_or_spelling(tmp_path: Path) -> None:
    value: list[Any] = [
        {"conversations": sharegpt("gpt", "Welcome.", "human", "Hi", "Human", "there", "bing", "Hello.")},
        {"conversations": [{"from": "human", "value": None}, {"from": ["x"], "value": "y"}, None, "z"]},
        {"conversations": sharegpt("human", "One?", "critic", "Hm.", "gpt", "One.")},
    ]
    report = await put_and_bring_in(tmp_path, as_json(value), "x.json")
    first, second = sorted(await stored_in(tmp_path), key=said_in)
    assert said_in(first) == (("assistant", "Welcome."), ("user", "Hi"), ("user", "there"), ("assistant", "Hello."))
    assert said_in(second) == (("user", "One?"), ("assistant", "One."))
    assert report.counts == {"imported": 2, "empty": 1}


async def test_speakers_that_nobody_knows_are_counted_by_their_names(tmp_path: Path) -> None:
    critic = [*turn("One?", "One."), {"role": "critic", "content": "Hm."}]
    report = await put_and_bring_in(tmp_path, as_json({"messages": critic}), "x.jsonl")
    assert report.left_out["critic"] == 1
    shared = sharegpt("human", "Two?", "gpt", "Two.", "narrator", "Hm.")
    report = await put_and_bring_in(tmp_path, as_json([{"conversations": shared}]), "y.json")
    assert report.left_out["narrator"] == 1
