"""Attachments of a store whose contents are read and written by calls that block."""

from collections.abc import Collection, Mapping
from typing import Protocol

from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from conversation_mcp.cancellation import in_thread
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.finder import KeptContents


class WrittenContents(KeptContents, Protocol):
    """Contents that can be added and removed, by calls that block."""

    def put(self, conversation_id: ConversationId, contents: Mapping[str, bytes]) -> None:
        """Keep the contents; raises as `Attachments.put`."""
        ...

    def remove(self, conversation_id: ConversationId, hashes: Collection[str]) -> None:
        """Remove them, and exports, as `Attachments.remove`."""
        ...


class ThreadedAttachments:
    """The same without blocking; satisfies Attachments. Each call is one visit to a thread."""

    def __init__(self, contents: WrittenContents) -> None:
        self._contents = contents

    async def put(self, conversation_id: ConversationId, contents: Mapping[str, bytes]) -> None:
        """Write what is not there; cancellation takes effect only afterwards."""
        await in_thread(self._contents.put, conversation_id, contents)
        await checkpoint_if_cancelled()

    async def get(self, conversation_id: ConversationId, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Read what is there."""
        return await to_thread.run_sync(self._contents.get, conversation_id, hashes)

    async def remove(self, conversation_id: ConversationId, hashes: Collection[str]) -> None:
        """Remove them, with exports; cancellation takes effect only afterwards."""
        await in_thread(self._contents.remove, conversation_id, hashes)
        await checkpoint_if_cancelled()

    async def sizes(self, conversation_id: ConversationId) -> Mapping[str, int]:
        """Look at what is there."""
        return await to_thread.run_sync(self._contents.sizes, conversation_id)
