"""Everything about memories of one owner, loaded with the first of them."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING

import anyio

from conversation_mcp.conversations.known import Count, Knowledge
from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.memories import Memories
from conversation_mcp.conversations.memory_meaning import open_memory_meaning
from conversation_mcp.conversations.opening import Opening
from conversation_mcp.records.models import ConversationId
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.stores.base import Store

if TYPE_CHECKING:
    from conversation_mcp.embeddings.catalog import Embedders

ANONYMOUS = "Memories"


class Remembering:
    """The services of memories."""

    def __init__(
        self,
        store: Store,
        library: Library,
        count: Count,
        now: Callable[[], datetime],
        redaction: TextRedaction,
        open_embedders: "Callable[[], Embedders]",
        has_texts: Callable[[], Awaitable[None]],
    ) -> None:
        self.opening = Opening(store, now, redaction)
        find_meaning = cache(partial(open_memory_meaning, open_embedders, store.finder))
        self.memories = Memories(store, now, redaction, find_meaning, has_texts)
        self.knowledge = Knowledge(store, self.memories, library, count)
        self._store = store
        self._anonymous: ConversationId | None = None
        self._opening_one = anyio.Lock()

    async def anonymous_id(self) -> ConversationId:
        """Return the conversation of memories that name none; it is opened once for each connection."""
        async with self._opening_one:
            if self._anonymous is None or not await self._store.exists(self._anonymous):
                opened, _ = await self.opening.open(ANONYMOUS)
                self._anonymous = ConversationId(opened.conversation_id)
            return self._anonymous
