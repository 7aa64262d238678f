"""Exports as they really are: cut, mixed up, half broken, or made to do harm."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.exports.chats import sharegpt, turn
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in, said_in, stored_in
from tests.fixtures.exports.own import earlier_data, own_data
from tests.fixtures.exports.programs import claude_code_lines
from tests.fixtures.exports.sites import chatgpt_entry, chatgpt_node, chatgpt_tree, claude_entry, claude_message
from tests.fixtures.odd_exports import GOOD, NOTHING, PING, as_json, put_and_bring_in, reasons

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.importing.base import Item, ReadOptions, SourceFile
from conversation_mcp.importing.catalog import import_formats
from conversation_mcp.importing.sources import list_files
from conversation_mcp.records.ids import EPOCH


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
        (b"<!doctype html><html>Please sign in", "is not JSON: it begins with '<!doctype html><html'"),
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
    assert "is cut off, or its list is not closed" in reasons(report)[0]
    assert await stored_in(tmp_path) == []


async def test_what_follows_the_end_of_an_array_is_told(tmp_path: Path) -> None:
    first, second = as_json([GOOD]), as_json([chatgpt_entry("other", *PING)])
    report = await put_and_bring_in(tmp_path, first + second)
    assert report.counts["imported"] == 1
    assert reasons(report) == [f"conversations.json: continues after its end (byte {len(first) + 1:,})"]


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


@pytest.mark.slow
async def test_a_string_of_a_hundred_megabytes_is_skipped_and_one_of_fifty_comes_in(tmp_path: Path) -> None:
    def entry(name: str, mebibytes: int) -> bytes:
        return as_json(chatgpt_entry(name, PING[0], chatgpt_node("b", "a", "assistant", "x" * (mebibytes << 20))))

    data = b"[" + b",".join((entry("large", 50), entry("larger", 100), entry("largest", 140), as_json(GOOD))) + b"]"
    report = await put_and_bring_in(tmp_path, data)
    assert report.counts == {"imported": 2, "problem": 2}
    assert "larger than the limit of 64 MiB" in reasons(report)[0]
    assert "is longer than the limit of 128 MiB" in reasons(report)[1]


@pytest.mark.slow
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


@pytest.mark.slow
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
