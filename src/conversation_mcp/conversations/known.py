"""What is known of something: from memories, summaries and messages of all conversations, within a budget of tokens."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from anyio import to_thread

from conversation_mcp.conversations.filters import wanted_of
from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.memories import Memories
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.found import Listed, WantedMemories
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.plain import Data, read_without_memories
from conversation_mcp.searching.snippets import MARK
from conversation_mcp.stores.base import Store
from conversation_mcp.text import cut

MEMORIES, CONVERSATIONS = 30, 20
MESSAGE_CHARS = 2_000
Count = Callable[[str], int]


class KnownText(NamedTuple):
    """Something that somebody said, and where."""

    kind: str
    """memory, summary or message."""
    text: str
    conversation_id: str
    at: str
    """When it was said."""
    message_number: int | None = None
    memory_id: str | None = None


class Knowledge:
    """Gathers what is known. `count` estimates the tokens of a text."""

    def __init__(self, store: Store, memories: Memories, library: Library, count: Count) -> None:
        self._store = store
        self._memories = memories
        self._library = library
        self._count = count

    async def of(self, query: str, max_tokens: int) -> tuple[list[KnownText], int]:
        """Return what is known, memories first, each text once, and how many found texts did not fit."""
        kept, seen, left, left_out = list[KnownText](), set[str](), max_tokens, 0
        for known in [*await self._memories_of(query), *await self._said(query)]:
            digest = same_text(known.text)
            if digest in seen:
                continue
            seen.add(digest)
            tokens = self._count(known.text)
            if tokens > left:
                left_out += 1
                continue
            left -= tokens
            kept.append(known)
        return kept, left_out

    async def _memories_of(self, query: str) -> list[KnownText]:
        ranked, _ = await self._memories.search(WantedMemories(query=query), MEMORIES)
        return [
            KnownText(
                "memory",
                found.memory.content,
                found.conversation_id,
                found.memory.created_at,
                found.memory.message_number,
                found.memory.memory_id,
            )
            for found, _, _ in ranked
        ]

    async def _said(self, query: str) -> list[KnownText]:
        page = await self._library.look_up(wanted_of(query), CONVERSATIONS, None)
        return await to_thread.run_sync(lambda: list(self._texts_of(page.conversations)))

    def _texts_of(self, found: Iterable[Listed]) -> Iterator[KnownText]:
        for listed in found:
            name = ConversationId(listed.conversation_id)
            try:
                data = read_without_memories(self._store.finder.read(name), self._store.location(name), name)
            except ConversationMCPError:  # gone or damaged since the index was made
                continue
            yield from _texts(data, listed)


def _texts(data: Data, listed: Listed) -> Iterator[KnownText]:
    own, updated_at = listed.conversation_id, str(data["updatedAt"])
    if summary := data.get("summary"):
        yield KnownText("summary", summary, own, data.get("endedAt") or updated_at)
    number, messages = listed.message_number, data["messages"]
    if number is not None and 0 < number <= len(messages):
        message = messages[number - 1]
        at = message.get("createdAt") or data["createdAt"]
        yield KnownText("message", cut(message["content"], MESSAGE_CHARS), own, at, number)
    elif listed.snippet and not summary:
        yield KnownText("message", listed.snippet.replace(MARK, ""), own, updated_at)
