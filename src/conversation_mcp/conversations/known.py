"""What is known of something: from memories, summaries and messages of all conversations, within a budget of tokens."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from conversation_mcp.conversations.filters import wanted_of
from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.memories import Memories
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.found import Listed, WantedMemories
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import Conversation, ConversationId
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
        said: list[KnownText] = []
        for listed in page.conversations:
            try:
                conversation = await self._store.load(ConversationId(listed.conversation_id))
            except ConversationMCPError:  # gone or damaged since the index was made
                continue
            said += _texts(conversation, listed)
        return said


def _texts(conversation: Conversation, listed: Listed) -> Iterator[KnownText]:
    own = conversation.conversation_id
    if conversation.closing_summary:
        yield KnownText("summary", conversation.closing_summary, own, conversation.ended_at or conversation.updated_at)
    number = listed.message_number
    if number is not None and 0 < number <= len(conversation.messages):
        message = conversation.messages[number - 1]
        at = message.created_at or conversation.created_at
        yield KnownText("message", cut(message.content, MESSAGE_CHARS), own, at, number)
    elif listed.snippet and not conversation.closing_summary:
        yield KnownText("message", listed.snippet.replace(MARK, ""), own, conversation.updated_at)
