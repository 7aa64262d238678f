"""Lines of a client: what can be mended is, everything else is answered with the id that can be seen."""

import json
import os
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from conversation_mcp.server.lines import LineReader, OversizedLine, Refusal, message_of, seen_id

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (b"half \\ud83d!", "half \N{REPLACEMENT CHARACTER}!"),
        (b"whole \\ud83d\\ude00", "whole \N{GRINNING FACE}"),
        (b"turned \\ude00\\ud83d", "turned \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"),
        (b"raw \xed\xa0\xbd", "raw " + 3 * "\N{REPLACEMENT CHARACTER}"),
        (b"latin-1 \xe9", "latin-1 \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_half_a_character_is_replaced_and_the_rest_is_read(said: bytes, read: str) -> None:
    found = message_of(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"query":"%b"}}' % said)
    assert found == JSONRPCRequest(jsonrpc="2.0", id=1, method="x", params={"query": read})


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"  ", b"\xef\xbb\xbf "])
def test_a_byte_order_mark_and_space_around_a_message_are_passed_over(mark: bytes) -> None:
    assert message_of(mark + line(method="x", id="a") + b"\r") == JSONRPCRequest(jsonrpc="2.0", id="a", method="x")
    assert message_of(mark) is None


def test_notifications_and_answers_are_messages_too() -> None:
    assert message_of(line(method="x")) == JSONRPCNotification(jsonrpc="2.0", method="x")
    assert message_of(line(id=3, result={})) == JSONRPCResponse(jsonrpc="2.0", id=3, result={})


@pytest.mark.parametrize(
    ("broken", "ids"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":', (7,)),
        (b'{"method":"x","params":{"id":5},"jsonrpc":"2.0","id":"b" oops}', ("b",)),
        (b'{"params":{"text":"\\"id\\":9 {"},"id":-4,}', (-4,)),
        (b'{"id":1,"method":"x","params":{"limit":NaN}}', (1,)),
        (b'{"params":{"id":5', (None,)),
        (b'{"id":1.5,', (None,)),
        (b"hello", (None,)),
        (b"{" * 100_000, (None,)),
        (b"[" * 100_000, (None,)),
        (line(id=8, method="x", params={}).decode().encode("utf-16-le"), (None,)),
        (b'{"id":2,"method":"x","params":{"n":' + b"9" * 5000 + b"}}", (2,)),
    ],
)
def test_what_is_no_json_is_answered_as_that_with_the_id_that_can_be_seen(broken: bytes, ids: tuple[object]) -> None:
    found = message_of(broken)
    assert isinstance(found, Refusal)
    assert (found.code, found.ids) == (PARSE_ERROR, ids)


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        ({"id": 4, "method": "ping"}, (4,)),
        ({"jsonrpc": "2.0", "id": "c", "method": 5}, ("c",)),
        ({"jsonrpc": "2.0", "id": 4, "method": "x", "params": [1]}, (4,)),
        ({"jsonrpc": "2.0", "id": None, "method": "x"}, (None,)),
        ({"jsonrpc": "2.0", "id": True, "method": "x"}, (None,)),
        ({"jsonrpc": "2.0", "id": 1}, (1,)),
        ({}, (None,)),
        ("text", (None,)),
        (5, (None,)),
        (None, (None,)),
        ([], (None,)),
        ([{"method": "x"}], (None,)),
        ([{"method": "x", "id": 1}, {"method": "y"}, {"method": "z", "id": "d"}], (1, "d")),
    ],
)
def test_json_that_is_no_message_is_answered_for_each_id_in_it(data: object, ids: tuple[object]) -> None:
    found = message_of(json.dumps(data).encode())
    assert isinstance(found, Refusal)
    assert (found.code, found.ids) == (INVALID_REQUEST, ids)


def test_an_answer_that_is_wrong_is_not_answered() -> None:
    assert message_of(b'{"id":1,"result":5}') is None
    assert message_of(b'{"id":1,"error":"no"}') is None


@given(JSON)
def test_whatever_is_json_becomes_a_message_or_a_refusal_that_can_be_sent(data: object) -> None:
    found = message_of(json.dumps(data).encode())
    assert found is None or isinstance(found, Refusal | JSONRPCRequest | JSONRPCNotification | JSONRPCResponse)


@given(JSON, st.integers(0, 99999) | st.text(max_size=9), st.integers(0, 60))
def test_the_id_of_a_cut_message_is_seen_if_it_was_written(params: object, number: int | str, cut: int) -> None:
    whole = json.dumps({"jsonrpc": "2.0", "id": number, "method": "x", "params": params})
    head = whole.index('"method"')
    assert seen_id(whole[: min(head + cut, len(whole) - 1)]) == number


@given(st.lists(st.binary(max_size=40).filter(lambda data: b"\n" not in data)), st.booleans())
def test_lines_are_cut_at_line_feeds_alone_and_the_last_needs_none(lines: list[bytes], ends: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ends and lines else b"")
    expected = lines if ends and lines else lines[:-1] + [each for each in lines[-1:] if each]
    assert read(data) == expected


def test_a_line_that_is_too_long_is_not_kept_and_the_next_one_is_read() -> None:
    long = line(id=6, method="x", params={"query": "a" * 300_000})
    tail_first = b'{"method":"x","params":{"query":"' + b"a" * 300_000 + b'"},"jsonrpc":"2.0","id":"e"}'
    first, second, third = read(long + b"\n" + tail_first + b"\n" + b"{}\n", max_bytes=100_000)
    assert isinstance(first, OversizedLine)
    assert isinstance(second, OversizedLine)
    assert len(first.head) + len(first.tail) < 200_000
    assert [found.ids for found in map(message_of, (first, second)) if isinstance(found, Refusal)] == [(6,), ("e",)]
    assert third == b"{}"


def read(data: bytes, max_bytes: int = 1_000_000) -> list[bytes | OversizedLine]:
    """Return the lines that a pipe with this data has."""
    reading, writing = os.pipe()

    def fill() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(data)

    thread = threading.Thread(target=fill)
    thread.start()
    reader, lines = LineReader(reading, max_bytes), list[bytes | OversizedLine]()
    while (found := reader.next_line()) is not None:
        lines.append(found)
    thread.join()
    os.close(reading)
    return lines
