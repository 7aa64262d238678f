"""Conversations as plain JSON data, for commands that go through thousands of them.

Nothing here imports the records: validating them takes longer than reading the files.
"""

import json
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from conversation_mcp.records.shapes import CONVERSATION
from conversation_mcp.text import storable_data

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

BOM = "\ufeff"
MEMORIES, MEMORIES_END = b'\n  "memories": [\n', b"\n  ],"
"""Around the memories in a file that the codec wrote. JSON strings hold no line breaks, so no text contains either."""

Data = Mapping[str, Any]


def _finite(text: str) -> float:
    if isfinite(number := float(text)):
        return number
    raise ValueError(text)


DECODER = json.JSONDecoder(parse_constant=_finite, parse_float=_finite)


def read_data(body: bytes, path: str, conversation_id: "ConversationId") -> Data:
    """Return the data of a file, the same as the codec's, which is used only for files that are out of the ordinary.

    Raises:
        ConversationCorruptedError: it is not a conversation.
    """
    try:
        return _ordinary(body)
    except (ValueError, RecursionError):
        pass
    from conversation_mcp.records.codec import decode

    return decode(body, path, conversation_id).data()


def read_without_memories(body: bytes, path: str, conversation_id: "ConversationId") -> Data:
    """Return the data of a file without its memories, which may be most of it, where the codec wrote it.

    Raises:
        ConversationCorruptedError: it is not a conversation.
    """
    start = body.find(MEMORIES)
    end = body.find(MEMORIES_END, start)
    if 0 <= start < end:
        try:
            return _ordinary(body[:start] + body[end + len(MEMORIES_END) :])
        except (ValueError, RecursionError):
            pass
    return read_data(body, path, conversation_id)


def _ordinary(body: bytes) -> Data:
    """Return the data of a file that is not out of the ordinary. Raises ValueError and RecursionError."""
    data = DECODER.decode(body.decode().removeprefix(BOM))
    if not CONVERSATION(data):
        raise ValueError
    return storable_data(data) if b"\\u" in body else data  # only an escape can be a lone surrogate
