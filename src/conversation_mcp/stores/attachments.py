"""The port of attachments: the bytes of files and images that the questions of a conversation name."""

from collections.abc import Collection, Mapping
from typing import Protocol

from conversation_mcp.records.models import ConversationId


class Attachments(Protocol):
    """Bytes that are kept with a conversation by their SHA-256; they come and go with it."""

    async def put(self, conversation_id: ConversationId, contents: Mapping[str, bytes]) -> None:
        """Keep the contents durably, each by its hash; what is kept already stays as it is.

        They may come before the conversation, under the id that is reserved for it. Cancellation cannot interrupt the
        call. After a failure, some of them may be kept.

        Raises:
            ConversationNotFoundError: nothing is stored under the id, nor is it reserved.
            FilesystemError: they cannot be written.
            ValueError: a name is not the hash of its content.
        """
        ...

    async def get(self, conversation_id: ConversationId, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Return the contents by their hashes; what is missing, or does not have its hash any more, is left out."""
        ...

    async def remove(self, conversation_id: ConversationId, hashes: Collection[str]) -> None:
        """Remove these contents for good; harmless for those that are not there.

        Whatever was made of the conversation and may hold its former words goes, too: exports that are kept with it.
        """
        ...

    async def sizes(self, conversation_id: ConversationId) -> Mapping[str, int]:
        """Return the sizes in bytes of all that is kept, by hash; empty for an unknown conversation."""
        ...
