"""The turns of a file as texts: each question with its answers, by the number of its first message."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conversation_mcp.records.facts import UNSEEN_ROLES, facts_of
from conversation_mcp.records.found import Indexed
from conversation_mcp.records.plain import read_data

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId


def describe_turns(body: bytes, path: str, conversation_id: "ConversationId") -> Indexed:
    """Describe the bytes of a file, with a text for each turn. Raises ConversationCorruptedError as `describe`."""
    data = read_data(body, path, conversation_id)
    return Indexed(facts_of(data, conversation_id, len(body)), frozenset(), turn_texts(data))


def turn_texts(data: Mapping[str, Any]) -> dict[int, str]:
    """Return question and answers of each turn, by the number of the message that it begins with."""
    turns: dict[int, list[str]] = {}
    first = 0
    for number, message in enumerate(data["messages"], 1):
        if message["role"] in UNSEEN_ROLES or not message["content"]:
            continue
        if message["role"] == "user" or not first:
            first = number
        turns.setdefault(first, []).append(str(message["content"]))
    return {number: "\n".join(texts) for number, texts in turns.items()}
