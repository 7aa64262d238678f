"""Exports as they really are: cut, mixed up, half broken, or made to do harm."""

import json
import sqlite3
import stat
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.exports import (
    EARLIER_ID,
    LLM_FRAGMENTS,
    LLM_OLD,
    LLM_ROWS,
    LLM_SCHEMA,
    bring_in,
    chatgpt_entry,
    chatgpt_node,
    chatgpt_tree,
    claude_code_lines,
    claude_entry,
    claude_message,
    earlier_data,
    name_of,
    own_data,
    put_database,
    put_json,
    said_in,
    sharegpt,
    stored_in,
    turn,
)
from tests.fixtures.stores import tree

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.importing.base import Item, ReadOptions, SourceFile
from conversation_mcp.importing.catalog import import_formats
from conversation_mcp.importing.importer import Report
from conversation_mcp.importing.sources import list_files
from conversation_mcp.records.ids import EPOCH

NOTHING: dict[str, Any] = {}
PING = (chatgpt_node("a", None, "user", "Ping?"), chatgpt_node("b", "a", "assistant", "Pong."))
GOOD = chatgpt_entry("good", *PING)


async def put_and_bring_in(folder: Path, data: bytes, name: str = "conversations.json", **options: Any) -> Report:
    path = folder / name
    await to_thread.run_sync(path.write_bytes, data)
    return await bring_in(path, folder, **options)


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def reasons(report: Report) -> list[str]:
    return [f"{problem.place}: {problem.reason}" for problem in report.problems]


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"\xef\xbb\xbf", b"", b"", b""),
        (b"", b"", b"", b"\r\n\r\n"),
        (b"", b", ", b",\r\n", b""),
        (b" \n", b"", b"", b""),
    ],
    ids=["byte order mark", "line ends after it", "CRLF", "space before it"],
)
async def test_harmless_oddities_are_read(tmp_path: Path, before: bytes, old: bytes, new: bytes, after: bytes) -> None:
    data = as_json([GOOD]).replace(old, new) if old else as_json([GOOD])
    assert (await put_and_bring_in(tmp_path, before + data + after)).counts["imported"] == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "conversations.json is empty"),
        (b" \n", "conversations.json is empty"),
        (as_json([GOOD]).decode().encode("utf-16"), "is UTF-16 or holds NUL bytes; save it as UTF-8"),
        (b"\0" * 5000, "is UTF-16 or holds NUL bytes"),
        (b"<!doctype html><html>Please sign in", "is no JSON: it begins with '<!doctype html><html'"),
        (b"[1, 2, 3]", "1 file holds something else"),
        (b'{"users": []}', "1 file holds something else"),
        (b'{"users": [', "is not valid JSON at character 12"),
    ],
)
async def test_what_is_no_export_is_refused_with_what_was_seen(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(InvalidInputError, match="What can be imported: ") as raised:
        await put_and_bring_in(tmp_path, data)
    assert reason in raised.value.message
    assert not (tmp_path / "conversation-logs").exists()


@pytest.mark.parametrize("left", [-1, -30, -1000], ids=["the bracket", "in an entry", "in a character"])
async def test_an_array_that_is_cut_is_refused_as_a_whole_with_the_place(tmp_path: Path, left: int) -> None:
    data = json.dumps([GOOD, chatgpt_entry("other", chatgpt_node("a", None, "user", "é" * 1000))], ensure_ascii=False)
    report = await put_and_bring_in(tmp_path, data.encode()[:left])
    assert [reason.partition(":")[0] for reason in reasons(report)] == ["conversations.json"]
    assert "breaks off, or its list is not closed" in reasons(report)[0]
    assert await stored_in(tmp_path) == []


async def test_what_follows_the_end_of_an_array_is_told(tmp_path: Path) -> None:
    first, second = as_json([GOOD]), as_json([chatgpt_entry("other", *PING)])
    report = await put_and_bring_in(tmp_path, first + second)
    assert report.counts["imported"] == 1
    assert reasons(report) == [f"conversations.json: goes on after its end (byte {len(first) + 1:,})"]


async def test_damaged_entries_are_skipped_with_their_place_and_the_others_come_in(tmp_path: Path) -> None:
    good = as_json(GOOD)
    entries = [
        b"null", b'"text"', b"{}", b"17", b"[]", b"NaN", b'{"mapping": {"a": NaN}}', b'{"mapping": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"mapping": ' + b"1" * 5000 + b"}", b'{"mapping": {"a": "\xff"}}', b'{"mapping" {}}', good,
        good.replace(b"Ping?", b"lone \\ud83d half").replace(b'"good"', b'"surrogate"'),
        good.replace(b"Ping?", b"nul \\u0000").replace(b'"good"', b'"nul"'),
        b'{"mapping": {}, "mapping": ' + as_json(GOOD["mapping"]) + b', "conversation_id": "twice"}',
    ]  # fmt: skip
    report = await put_and_bring_in(tmp_path, b"[" + b", ".join(entries) + b"]")
    assert report.counts["imported"] == 4
    assert report.counts["problem"] == 11
    assert reasons(report)[:3] == [
        "conversations.json, entry 1 (byte 2): is null, not a conversation",
        "conversations.json, entry 2 (byte 8): is a string, not a conversation",
        "conversations.json, entry 3 (byte 16): has no mapping, so it has no messages",
    ]
    assert "is nested too deeply" in reasons(report)[7]
    assert "is not UTF-8 at byte 21 of it" in reasons(report)[9]
    said = [text for conversation in await stored_in(tmp_path) for _, text in said_in(conversation)]
    assert "lone \ufffd half" in said
    assert "nul \0" in said


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
    (GOOD | {"mapping": {"a": PING[0], "x": {}, "y": None, "z": [], "b": PING[1]}}, 2),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "assistant", None, {"content_type": "odd"}, 7, "Yes.")), 3),
    (chatgpt_entry("x", *PING, {"id": "c", "parent": "b", "message": {"content": {"parts": ["who?"]}}}), 2),
    (chatgpt_entry("x", *PING, chatgpt_node("c", "b", "assistant", content="text")), 2),
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


async def test_a_shard_that_is_damaged_and_one_file_beside_the_shards(tmp_path: Path) -> None:
    export = tmp_path / "export" / "deep"
    export.mkdir(parents=True)
    for number in range(12):
        put_json(export / f"conversations-{number}.json", [chatgpt_entry(f"c{number}", *PING)])
    (export / "conversations-1.json").write_bytes(b'[{"mapping": {')
    put_json(export / "conversations.json", [chatgpt_entry("c0", *PING), GOOD])
    report = await bring_in(tmp_path / "export", tmp_path)
    assert (report.counts["imported"], report.counts["unchanged"], report.counts["problem"]) == (12, 1, 1)
    assert "deep/conversations-1.json" in reasons(report)[0]


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


DROPPED = "DROP TABLE fragments; DROP TABLE turns;"
BROKEN = "UPDATE messages SET parent_hash = 'gone' WHERE role = 'assistant';"
DATABASES: list[tuple[str, set[str]]] = [
        (LLM_OLD, {"Old talk", "Alone?", "Sum up"}),
        (LLM_SCHEMA + LLM_ROWS, {"Sum up"}),
        (LLM_SCHEMA + LLM_ROWS + DROPPED, {"Sum up"}),
        (LLM_SCHEMA + LLM_ROWS + BROKEN, {"Sum up"}),
        (LLM_SCHEMA, set()),
        ("CREATE TABLE log(provider, system, prompt, chat_id, response, model, timestamp); INSERT INTO log VALUES ('x', NULL, 'Hi', NULL, 'Hello.', 'm', '2023-04-01T00:00:00');", {"Hi"}),
        ("CREATE TABLE logs(id INTEGER PRIMARY KEY, model, prompt, system, response, chat_id, datetime_utc); INSERT INTO logs VALUES (1, 'm', 'Hi', NULL, 'Hello.', 7, NULL), (2, 'm', 'More', NULL, 'Sure.', 7, NULL);", {"Hi"}),
        ("CREATE TABLE responses(other); INSERT INTO responses VALUES (1);", set()),
]  # fmt: skip


@pytest.mark.parametrize(("script", "titles"), DATABASES)
async def test_every_age_of_llms_database_is_read(tmp_path: Path, script: str, titles: set[str]) -> None:
    source = await to_thread.run_sync(put_database, tmp_path / "logs.db", script)
    await bring_in(source, tmp_path)
    assert {name_of(conversation) for conversation in await stored_in(tmp_path)} == titles
    assert {path for path in tree(tmp_path) if path.startswith("logs.db")} == {"logs.db"}


async def test_what_a_prompt_of_llm_refers_to_is_in_the_question(tmp_path: Path) -> None:
    source = await to_thread.run_sync(put_database, tmp_path / "logs.db", LLM_FRAGMENTS)
    report = await bring_in(source, tmp_path)
    (conversation,) = await stored_in(tmp_path)
    assert said_in(conversation) == (
        ("system", "Be brief."),
        ("user", "Bees dance to show the way."),
        ("assistant", "They do."),
        ("user", "Ants use scent.\nWasps too.\none line"),
        ("assistant", "With scent."),
        (
            "user",
            "(attachment not imported: image/png)\n(attachment not imported: a file without a name)",
        ),
        ("assistant", "A picture."),
    )
    assert +report.left_out == {
        "attachments": 2,
        "tool messages": 1,
        "fragments that are missing": 1,
        "later system texts": 1,
    }


async def test_parts_and_roles_of_llm_that_nobody_knows_are_counted_by_their_names(tmp_path: Path) -> None:
    odd = """
    INSERT INTO messages VALUES ('b2:3', 'b2:2', 'critic', NULL);
    INSERT INTO parts VALUES (7, 'b2:3', 0, 'text', NULL, 'Hm.', NULL), (8, 'b2:2', 3, 'citation', NULL, 'A page', NULL);
    UPDATE threads SET tip_message_hash = 'b2:3' WHERE id = 't1';
    """
    source = await to_thread.run_sync(put_database, tmp_path / "logs.db", LLM_SCHEMA + LLM_ROWS + odd)
    report = await bring_in(source, tmp_path)
    assert (report.left_out["critic"], report.left_out["citation"]) == (1, 1)


async def test_a_database_with_a_journal_is_read_through_it(tmp_path: Path) -> None:
    writer = await to_thread.run_sync(lambda: sqlite3.connect(tmp_path / "logs.db", check_same_thread=False))
    writer.execute("PRAGMA journal_mode=WAL")
    writer.executescript(LLM_OLD)
    writer.commit()
    report = await bring_in(tmp_path / "logs.db", tmp_path)
    writer.close()
    assert report.counts["imported"] == 3


@pytest.mark.parametrize("data", [b"SQLite format 3\0" + b"\xff" * 5000, b"SQLite format 3\0"])
async def test_a_database_that_is_none_is_told(tmp_path: Path, data: bytes) -> None:
    report = await put_and_bring_in(tmp_path, data, "logs.db")
    assert "cannot be read as a database" in reasons(report)[0]


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


async def test_speakers_that_nobody_knows_are_counted_by_their_names(tmp_path: Path) -> None:
    critic = [*turn("One?", "One."), {"role": "critic", "content": "Hm."}]
    report = await put_and_bring_in(tmp_path, as_json({"messages": critic}), "x.jsonl")
    assert report.left_out["critic"] == 1
    shared = sharegpt("human", "Two?", "gpt", "Two.", "narrator", "Hm.")
    report = await put_and_bring_in(tmp_path, as_json([{"conversations": shared}]), "y.json")
    assert report.left_out["narrator"] == 1


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


def zip_with(path: Path, name: str | zipfile.ZipInfo, data: bytes) -> Path:
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    "name",
    ["../evil.json", "/etc/evil.json", "a/../../evil.json", "..\\evil.json", "C:\\evil.json", "\\\\host\\evil.json"],
)
async def test_a_member_whose_name_leads_out_is_not_read(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    archive = zip_with(zip_with(inside / "x.zip", "conversations.json", as_json([GOOD])), name, as_json([GOOD]))
    report = await bring_in(archive, inside)
    assert report.counts == {"imported": 1, "problem": 1}
    assert "has a name that leads out of the archive" in reasons(report)[0]
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


async def test_a_link_in_an_archive_or_a_folder_is_not_followed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("conversations-1.json")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    archive = zip_with(zip_with(tmp_path / "x.zip", "conversations.json", as_json([GOOD])), link, b"/etc/passwd")
    assert reasons(await bring_in(archive, tmp_path)) == ["conversations-1.json: is a symbolic link"]
    folder = tmp_path / "folder"
    folder.mkdir()
    put_json(folder / "conversations.json", [GOOD])
    (folder / "loop").symlink_to(folder)
    (folder / "other.json").symlink_to("/etc/passwd")
    report = await bring_in(folder, tmp_path)
    assert sorted(reasons(report)) == [
        f"{name}: is a symbolic link, which is not followed" for name in ("loop", "other.json")
    ]


async def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    with (
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("conversations.json", "w", force_zip64=True) as member,
    ):
        for _ in range(300):
            member.write(b"[" + b" " * (1 << 20))
    zip_with(archive, "conversations-1.json", as_json([GOOD]))
    report = await bring_in(archive, tmp_path)
    assert report.counts == {"imported": 1, "problem": 1}
    assert "times its size, as bombs do" in reasons(report)[0]


async def test_a_member_that_lies_about_its_size_yields_no_more_than_it_said(tmp_path: Path) -> None:
    archive = zip_with(tmp_path / "x.zip", "conversations.json", as_json([GOOD]) + b" " * 5000)
    data = archive.read_bytes()
    size = len(as_json([GOOD])) + 5000
    archive.write_bytes(data.replace(size.to_bytes(4, "little"), (size - 4000).to_bytes(4, "little")))
    with pytest.raises(InvalidInputError, match="cannot be read: "):
        await bring_in(archive, tmp_path)


async def test_archives_that_are_cut_encrypted_or_hold_archives(tmp_path: Path) -> None:
    archive = zip_with(tmp_path / "x.zip", "conversations.json", as_json([GOOD]))
    data = archive.read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(data[:-30])
    with pytest.raises(InvalidInputError, match="nothing to import was found"):
        await bring_in(cut, tmp_path)
    encrypted = tmp_path / "encrypted.zip"
    encrypted.write_bytes(data.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"))
    with pytest.raises(InvalidInputError, match="is encrypted"):
        await bring_in(encrypted, tmp_path)
    with pytest.raises(InvalidInputError, match="is an archive in an archive; unpack the outer one"):
        await bring_in(zip_with(tmp_path / "outer.zip", "inner.zip", data), tmp_path)


async def test_the_work_on_an_archive_grows_as_its_members_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()

    class CountedArchive(zipfile.ZipFile):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            read["entries of directories"] += len(self.infolist())

    monkeypatch.setattr(zipfile, "ZipFile", CountedArchive)
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for number in range(200):
            packed.writestr(f"conversations-{number:03}.json", as_json([GOOD | {"conversation_id": str(number)}]))
    read.clear()
    assert (await bring_in(archive, tmp_path)).counts == {"imported": 200}
    assert read["entries of directories"] == 200


async def test_two_members_of_one_name_are_told_and_the_last_is_read(tmp_path: Path) -> None:
    archive = zip_with(tmp_path / "x.zip", "conversations.json", as_json([GOOD]))
    with pytest.warns(UserWarning, match="Duplicate name"):
        zip_with(archive, "conversations.json", as_json([chatgpt_entry("last", *PING)]))
    report = await bring_in(archive, tmp_path)
    assert report.counts == {"problem": 1, "imported": 1}
    assert name_of((await stored_in(tmp_path))[0]) == "Title of last"


@pytest.mark.slow
async def test_a_string_of_a_hundred_megabytes_is_skipped_and_one_of_fifty_comes_in(tmp_path: Path) -> None:
    def entry(name: str, mebibytes: int) -> bytes:
        return as_json(chatgpt_entry(name, PING[0], chatgpt_node("b", "a", "assistant", "x" * (mebibytes << 20))))

    data = b"[" + b",".join((entry("large", 50), entry("larger", 100), entry("largest", 140), as_json(GOOD))) + b"]"
    report = await put_and_bring_in(tmp_path, data)
    assert report.counts == {"imported": 2, "problem": 2}
    assert "larger than the 64 MiB that can be read again" in reasons(report)[0]
    assert "is longer than the 128 MiB that are read at once" in reasons(report)[1]


async def test_ten_thousand_messages_are_one_conversation(tmp_path: Path) -> None:
    nodes = [
        chatgpt_node(str(n), str(n - 1) if n else None, "assistant" if n % 2 else "user", f"say {n}")
        for n in range(10_000)
    ]
    await put_and_bring_in(tmp_path, as_json([chatgpt_entry("long", *nodes)]))
    (conversation,) = await stored_in(tmp_path)
    assert conversation.message_count == 10_000


EMPTY: st.SearchStrategy[Any] = st.sampled_from((0, 1)).map(lambda kind: [] if kind else NOTHING)
LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(), st.text(max_size=5), EMPTY
)
SEEDS: list[Any] = [
    chatgpt_tree(), claude_entry("x", claude_message("a", "human", "Hi", "r"), claude_message("b", "assistant", "Yes", "a")),
    *claude_code_lines(), {"messages": turn("One?", "One.")}, {"id": "1", "conversations": sharegpt("human", "Hi", "gpt", "Yes")},
    own_data(), earlier_data(),
]  # fmt: skip


def mutated(value: Any, draw: Callable[[st.SearchStrategy[Any]], Any], rate: int) -> Any:
    """Return the value with parts of it replaced by anything."""
    if draw(st.integers(0, rate)) == 0:
        return draw(LEAVES)
    if isinstance(value, dict):
        return {key: mutated(item, draw, rate) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [mutated(item, draw, rate) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_no_entry_of_whatever_shape_stops_a_format(tmp_path: Path, data: st.DataObject) -> None:
    entries = [mutated(data.draw(st.sampled_from(SEEDS)), data.draw, 20) for _ in range(3)]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, entries)) + "\n{}\n", encoding="utf-8")
    (file,) = list_files(path).files
    reading = ReadOptions(EPOCH.replace(year=2026), all_branches=True)
    for each in import_formats():
        assert isinstance(file, SourceFile)
        for entry in entries:
            each.claims(file, entry)
        assert all(isinstance(item, Item) for item in each.read([file], reading))
