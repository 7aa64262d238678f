"""What was read last of all owners' files, within one number of bytes however many homes are open."""

from pathlib import Path

from conversation_mcp.disk.recent import Recent
from conversation_mcp.records.coded import Coded
from conversation_mcp.stores.files.contents import Written

CONVERSATION_BYTES, LARGEST_BYTES = 4 * 1024 * 1024, 16 * 1024 * 1024
"""How much is remembered of files of conversations, and of a single one; parsed, it takes several times as much."""
CONTENT_BYTES = 16 * 1024 * 1024


class FileMemory:
    """Remembers conversations by root and id, and contents by root and path."""

    def __init__(self, conversation_bytes: int = CONVERSATION_BYTES, content_bytes: int = CONTENT_BYTES) -> None:
        self.conversations = Recent[tuple[Path, str], bytes, Coded](conversation_bytes, LARGEST_BYTES)
        self.contents = Recent[tuple[Path, str], Written, bytes](content_bytes)

    def forget(self, root: Path) -> None:
        """Drop what was read of the home in that folder."""
        for recent in (self.conversations, self.contents):
            recent.drop(lambda key: key[0] == root)

    def close(self) -> None:
        """Do nothing: what is remembered goes with this."""


def build(_url: str) -> FileMemory:
    """Make the memory of a process."""
    return FileMemory()
