"""The memories of a file as plain data, for searches, which do not wait for the records."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conversation_mcp.records.found import MemoryFacts, WantedMemories
from conversation_mcp.records.memory_ids import id_of, same_text
from conversation_mcp.text import fold, storable, storable_data


def is_wanted(memory: MemoryFacts, wanted: WantedMemories) -> bool:
    """Tell whether the memory meets the filters, which leaves out the conversation and the query."""
    return (
        wanted.memory_id in (None, memory.memory_id)
        and (not wanted.same_texts or same_text(memory.content) in wanted.same_texts)
        and {fold(tag) for tag in memory.tags}.issuperset(wanted.tags)
        and memory.created_milliseconds >= (wanted.since_milliseconds or 0)
    )


def memories_of(data: Mapping[str, Any], milliseconds_of: Callable[[str], int]) -> Iterator[MemoryFacts]:
    """Yield the memories in the data of a file; of two with one id the first, and none without text."""
    seen: set[str] = set()
    for memory in data.get("memories") or ():
        content = storable(str(memory["content"]))
        memory_id = id_of(memory.get("memoryId"), content)
        if not content.strip() or memory_id in seen:
            continue
        seen.add(memory_id)
        created_at = str(memory.get("createdAt") or data["createdAt"])
        try:
            milliseconds = milliseconds_of(created_at)
        except ValueError:
            created_at, milliseconds = data["createdAt"], milliseconds_of(data["createdAt"])
        yield MemoryFacts(
            memory_id=storable(memory_id),
            content=content,
            created_at=created_at,
            created_milliseconds=milliseconds,
            updated_at=memory.get("updatedAt"),
            tags=tuple(storable(tag) for tag in memory.get("tags") or ()),
            metadata=storable_data(memory.get("metadata")) or None,
            message_number=memory.get("messageNumber"),
            proposed_by=memory.get("model") or memory.get("provider"),
            embedding=_embedding_of(memory.get("embedding"), content),
        )


def _embedding_of(embedding: Mapping[str, str] | None, content: str) -> Mapping[str, str] | None:
    """Return it if it is of this text, which may have been edited since."""
    if embedding is None or embedding["textHash"] != same_text(content):
        return None
    return {name: storable(embedding[name]) for name in ("model", "textHash", "vector")}


def facts_text(memory: MemoryFacts) -> str:
    """Return the memory as indexes keep it."""
    return json.dumps({name: value for name, value in memory._asdict().items() if value not in (None, ())})


def remembered(facts: str) -> MemoryFacts:
    """Return the memory from the text that an index keeps."""
    data: dict[str, Any] = json.loads(facts)
    data["tags"] = tuple(data.get("tags") or ())
    return MemoryFacts(**data)


def searched_text(memory: MemoryFacts) -> str:
    """Return what words are looked for in."""
    return " ".join((memory.content, *memory.tags))
