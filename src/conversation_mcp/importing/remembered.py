"""Memories as a source holds them, made ready to be stored."""

from collections.abc import Iterable, Mapping

from conversation_mcp.conversations.labels import MAX_TAG_CHARS, MAX_TAGS
from conversation_mcp.conversations.memories import MAX_CHARS
from conversation_mcp.importing.messages import name_of
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.text import cut, fold, storable

PART = 5_000
"""The most memories that one conversation gets from an import; what is beyond goes to another."""


def memory(content: str, tags: Iterable[object] = (), metadata: Mapping[str, str] | None = None) -> Memory:
    """Return a memory; a tag that is no short text is left out, and what is too long is cut."""
    names = (name_of(tag) for tag in tags)
    kept = {fold(name): name for name in names if name and len(name) <= MAX_TAG_CHARS}
    text = cut(storable(content).strip(), MAX_CHARS)
    return Memory.of(content=text, tags=tuple(kept.values())[:MAX_TAGS] or None, metadata=dict(metadata or {}) or None)


def once(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return the memories that have text, each text once."""
    texts = {same_text(each.content): each for each in memories if each.content}
    return tuple(texts.values())
