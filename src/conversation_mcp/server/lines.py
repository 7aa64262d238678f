"""Lines from a client, parsed to messages; a faulty line is repaired where possible and refused otherwise."""

import json
import os
import re
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn, cast

from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCMessage, jsonrpc_message_adapter

from conversation_mcp.text import storable_data

MAX_LINE_BYTES = 32 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
BOM = b"\xef\xbb\xbf"
"""A byte order mark, which some Windows programs put before the first line."""
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
ID_VALUE = re.compile(r'\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]{1,18}(?![0-9.eE]))')
LAST_ID = re.compile(rf'"id"{ID_VALUE.pattern}(?:\s*,\s*"jsonrpc"\s*:\s*"2\.0")?\s*}}\s*\Z')
"""An id at the end of a message, where clients put it that write the parameters first."""

Id = str | int


class Refusal(NamedTuple):
    """A line that is not a message: the problem, and the ids to answer. None stands for an id that cannot be read."""

    code: int
    problem: str
    ids: tuple[Id | None, ...] = (None,)


class OversizedLine(NamedTuple):
    """A line above the limit, of which only the beginning and the end are kept, to look for its id."""

    head: bytes
    tail: bytes


class LineReader:
    """Reads lines from a descriptor; every call blocks."""

    def __init__(self, descriptor: int, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._descriptor = descriptor
        self._max_bytes = max_bytes
        self._rest = b""
        self._is_over = False

    def next_line(self) -> bytes | OversizedLine | None:
        """Return the next line; None at the end of the input. The last line need not end with a line feed."""
        parts: list[bytes] = []  # joined at the end: each `+=` would copy a line of many MiB again
        length = 0
        while True:
            part, feed, rest = (self._rest or self._read()).partition(b"\n")
            self._rest = rest
            parts.append(part)
            length += len(part)
            if feed or self._is_over:
                break
            if length > self._max_bytes:
                return OversizedLine(b"".join(parts)[:CHUNK_BYTES], self._skip())
        line = b"".join(parts)
        return line if line or feed else None

    def _skip(self) -> bytes:
        """Read to the end of the line and return its last bytes."""
        tail = b""
        while not self._is_over:
            part, feed, self._rest = self._read().partition(b"\n")
            tail = (tail + part)[-CHUNK_BYTES:]
            if feed:
                break
        return tail

    def _read(self) -> bytes:
        try:
            data = os.read(self._descriptor, CHUNK_BYTES)
        except OSError:  # the terminal was closed, for example
            data = b""
        self._is_over = not data
        return data


def message_of(line: bytes | OversizedLine) -> JSONRPCMessage | Refusal | None:
    """Return the message of a line, or the refusal to send; None if nobody waits for an answer."""
    if isinstance(line, OversizedLine):
        seen = LAST_ID.search(_text(line.tail))
        found = _parsed_id(seen.group(1)) if seen else seen_id(_text(line.head))
        return Refusal(INVALID_REQUEST, f"the line has more than {MAX_LINE_BYTES >> 20} MiB", (found,))
    text = _text(line.removeprefix(BOM)).strip()
    if not text:
        return None
    try:
        data = _parsed(text)
    except (ValueError, RecursionError):
        return Refusal(PARSE_ERROR, "the line is not valid JSON", (seen_id(text),))
    if isinstance(data, list):
        entries = map(_fields, cast("list[object]", data))
        ids = tuple(_id_of(each) for each in entries if "method" in each and "id" in each)
        return Refusal(INVALID_REQUEST, "batches are not accepted; send each message on its own line", ids or (None,))
    return _message(data)


def seen_id(text: str) -> Id | None:
    """Return the id of a message that cannot be parsed, if the message has one at its top level."""
    depth = 0
    for token in TOKEN.finditer(text):
        word = token.group()
        if word in "{[":
            depth += 1
        elif word in "}]":
            depth -= 1
        elif depth == 1 and word == '"id"' and (value := ID_VALUE.match(text, token.end())):
            return _parsed_id(value.group(1))
    return None


def _message(data: object) -> JSONRPCMessage | Refusal | None:
    fields = _fields(data)
    # A request whose id is of a wrong type would pass as a notification, and its sender would wait forever.
    if not {"method", "id"} <= fields.keys() or _id_of(fields) is not None:
        with suppress(ValueError):
            return jsonrpc_message_adapter.validate_python(data, by_name=False)
    if {"result", "error"} & fields.keys():  # a faulty answer; answering an answer is not allowed
        return None
    return Refusal(INVALID_REQUEST, "the line is not a JSON-RPC 2.0 message", (_id_of(fields),))


def _fields(data: object) -> dict[str, object]:
    return cast("dict[str, object]", data) if isinstance(data, dict) else {}


def _id_of(fields: dict[str, object]) -> Id | None:
    value = fields.get("id")
    # To Python, true is an integer; to JSON-RPC, it is no id.
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")  # a byte that is not UTF-8 spoils one character, not the message


def _parsed(text: str) -> Any:  # noqa: ANN401 -- JSON of whatever shape
    """Parse JSON. A lone surrogate, which JSON can escape and UTF-8 cannot encode, becomes U+FFFD."""
    data = json.loads(text, parse_constant=_refuse_constant)
    return storable_data(data) if "\\u" in text else data


def _parsed_id(text: str) -> Id | None:
    try:
        return cast("Id", _parsed(text))
    except ValueError:
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
