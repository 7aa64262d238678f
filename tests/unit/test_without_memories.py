"""A file that is read without its memories has all the rest."""

import json
from typing import Any

import pytest
from tests.fixtures.library import data_of_conversation, id_of

from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.records.codec import decode, encode
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.plain import read_data, read_without_memories

ID = ConversationId(id_of(1))
HOSTILE = '\n  "memories": [\n  ],\n  "messages": []'


def body_of(**fields: Any) -> bytes:
    """Return a file as the codec writes it."""
    return encode(
        decode(json.dumps(data_of_conversation(1, f"Why? {HOSTILE}", "So.", **fields)).encode(), "c.json", ID)
    )


@pytest.mark.parametrize(
    "memories",
    [
        [{"content": "We chose Rust."}],
        [{"content": HOSTILE, "tags": ["a"], "metadata": {"memories": [HOSTILE]}}, {"content": "]"}],
    ],
)
def test_only_the_memories_are_missing_whatever_they_say(memories: list[dict[str, Any]]) -> None:
    body = body_of(memories=memories, summary=HOSTILE, extra={"memories": ["kept"]})
    whole = dict(read_data(body, "c.json", ID))
    assert [each["content"] for each in whole.pop("memories")] == [each["content"] for each in memories]
    assert read_without_memories(body, "c.json", ID) == whole


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_a_file_in_another_form_is_read_whole(indent: int | None) -> None:
    body = json.dumps(json.loads(body_of(memories=[{"content": "Rust."}])), indent=indent).encode()
    assert read_without_memories(body, "c.json", ID) == read_data(body, "c.json", ID)


def test_a_file_without_memories_is_read_whole() -> None:
    assert read_without_memories(body_of(), "c.json", ID) == read_data(body_of(), "c.json", ID)


def test_of_a_file_with_an_empty_list_of_memories_nothing_else_is_left_out() -> None:
    body = body_of(tags=["a"]).replace(b'\n  "tags"', b'\n  "memories": [],\n  "tags"')
    assert read_without_memories(body, "c.json", ID) == read_data(body, "c.json", ID)


def test_what_is_no_conversation_is_refused() -> None:
    with pytest.raises(ConversationCorruptedError):
        read_without_memories(body_of(memories=[{"content": "Rust."}])[:-10], "c.json", ID)
