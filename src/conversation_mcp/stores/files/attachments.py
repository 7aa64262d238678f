"""The attachments of the file store: `contents.py` in threads."""

from collections.abc import Collection, Mapping

from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from conversation_mcp.cancellation import finish
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.contents import ContentFiles


class AttachmentFiles:
    """Contents beside the file of their conversation; satisfies Attachments. Each call is one visit to a thread."""

    def __init__(self, contents: ContentFiles) -> None:
        self._contents = contents

    async def put(self, conversation_id: ConversationId, contents: Mapping[str, bytes]) -> None:
        """Write what is not there; cancellation takes effect only afterwards."""
        await finish(to_thread.run_sync(self._contents.put, conversation_id, contents))
        await checkpoint_if_cancelled()

    async def get(self, conversation_id: ConversationId, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Read what is there, from memory if it was read before and has not changed."""
        return await to_thread.run_sync(self._contents.get, conversation_id, hashes)

    async def sizes(self, conversation_id: ConversationId) -> Mapping[str, int]:
        """Look at what is there."""
        return await to_thread.run_sync(self._contents.sizes, conversation_id)
