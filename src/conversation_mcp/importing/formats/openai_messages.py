"""JSON Lines of OpenAI messages, as used for fine-tuning and written by our own export."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from conversation_mcp.importing.base import (
    ImportFormat,
    ImportProblem,
    Item,
    LeftOut,
    ReadOptions,
    Sourced,
    SourceFile,
)
from conversation_mcp.importing.entries import each_entry
from conversation_mcp.importing.messages import (
    Data,
    answered,
    count_named,
    digest,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    texts_of,
)
from conversation_mcp.records.models import Message, Role

ROLES: dict[str, Role] = {"system": "system", "developer": "developer", "user": "user", "assistant": "assistant"}
TOOL_ROLES = frozenset({"tool", "function"})
TEXT_BLOCKS = ("text", "input_text", "output_text")
ATTACHED = re.compile(r"image|audio|file|video|document")
TAKEN = frozenset({"role", "content", "tool_calls", "name", "weight"})
"""Fields of a message that are read here, or hold no words."""


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has a list of messages with roles."""
    facts = object_of(entry)
    return any("role" in object_of(said) and "content" in object_of(said) for said in list_of(facts.get("messages")))


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield a conversation for each line, whose id is a digest of its content for want of another."""
    yield from each_entry(files, reading, _conversation)


def _conversation(entry: Data, place: str, _reading: ReadOptions) -> Iterator[Item]:
    if not isinstance(entry.get("messages"), list):
        yield ImportProblem(place, "has no messages")
        return
    left_out: Counter[LeftOut] = Counter()
    said = [made for each in list_of(entry["messages"]) for made in _message(object_of(each), left_out)]
    messages, unanswered = answered(said)
    yield Sourced(digest(said), place, messages, unanswered=unanswered, left_out=left_out)


def _message(said: Data, left_out: Counter[LeftOut]) -> Iterator[Message]:
    role = name_of(said.get("role")) or ""
    if role in TOOL_ROLES:
        left_out["tool messages"] += 1
        return
    left_out["tool messages"] += len(list_of(said.get("tool_calls")))
    text = joined(texts_of(said.get("content"), TEXT_BLOCKS))
    if role not in ROLES:
        count_named(role or said.get("type"), {**said, "content": text}, left_out, ("role", "type"))
        return
    attached: list[str] = []
    for block in map(object_of, list_of(said.get("content"))):
        kind = name_of(block.get("type")) or ""
        if ATTACHED.search(kind):
            attached.append(kind)
        elif kind not in TEXT_BLOCKS:
            count_named(kind, block, left_out, ("type",))
    for name, value in said.items():
        if name not in TAKEN:
            count_named(name, value, left_out)
    notices = missing(attached, left_out)
    content = text if text.strip() else "\n".join(f"({notice})" for notice in notices)
    if not content:
        return
    yield message(ROLES[role], content, notices=notices)


OPENAI_MESSAGES = ImportFormat("openai-messages", "OpenAI messages, one conversation per line", claims, read)
