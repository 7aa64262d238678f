"""The port of attachments: the bytes of files and images that the questions of a conversation name."""

from collections.abc import Collection, Mapping
from typing import Protocol

from conversation_mcp.records.models import ConversationId


class Attachments(Protocol):
    """Bytes that are kept with a conversation by their SHA-256; they come and go with it."""

    async def put(self, conversation_id: ConversationId, contents: Mapping[str, bytes]) -> None:
        """Keep the contents durably, each by its hash; what is kept already stays as it is.

        Raises:
            ConversationNotFoundError: nothing is stored under the id.
            FilesystemError: they cannot be written.
        """
        ...

    async def get(self, conversation_id: ConversationId, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Return the contents by their hashes; what is missing, or does not have its hash any more, is left out."""
        ...

    async def sizes(self, conversation_id: ConversationId) -> Mapping[str, int]:
        """Return the sizes in bytes of all that is kept, by hash; empty for an unknown conversation."""
        ...
