"""Which of the memories that an import finds are stored already, in whatever conversation."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial

import anyio
from anyio import to_thread

from conversation_mcp.importing.base import Sourced
from conversation_mcp.records.found import WantedMemories
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.headway import Headway


class KnownMemories:
    """Knows the texts that are stored, and those that this import has found before."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._taken: set[str] = set()
        self._is_fresh = False
        self._turn = anyio.Lock()

    async def without_known(self, found: Sourced, own: ConversationId | None) -> Sourced:
        """Return what was found without the memories that others than its own conversation hold."""
        if not found.memories:
            return found
        texts = {same_text(each.content): each for each in found.memories}
        async with self._turn:  # two notes that say the same are compared with each other, too
            if not self._is_fresh:
                await to_thread.run_sync(self._store.finder.refresh, Headway())
                self._is_fresh = True
            known = self._taken & texts.keys() | await self._elsewhere(texts, own)
            self._taken |= texts.keys()
        kept = tuple(each for text, each in texts.items() if text not in known)
        is_rest = bool(found.messages or found.unanswered)
        return replace(found, memories=kept, all_known=not kept and not is_rest)

    async def _elsewhere(self, texts: Collection[str], own: ConversationId | None) -> set[str]:
        wanted = WantedMemories(same_texts=tuple(texts))
        page = await to_thread.run_sync(partial(self._store.finder.memories, wanted, len(texts)))
        return {same_text(each.memory.content) for each in page.found if each.conversation_id != own}
