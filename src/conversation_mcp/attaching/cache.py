"""What was read lately, so that a file that has not changed since costs a look, not a read."""

from dataclasses import dataclass

from conversation_mcp.attaching.contents import FileContent, ImageContent
from conversation_mcp.attaching.opening import Stamp
from conversation_mcp.disk.recent import Recent

MAX_BYTES = 64 * 1024 * 1024
ENTRY_BYTES = 1_000
"""About what an entry takes besides its content."""


@dataclass(frozen=True)
class SeenFile:
    """A whole file as it was read: its content or the reason for having none, and what makes it secret, if anything."""

    content: FileContent | ImageContent | str
    secret: str | None = None
    """The secret in it."""
    secret_name: str | None = None
    """What it is by its name."""

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        match self.content:
            case str(reason):
                return ENTRY_BYTES + len(reason)
            case ImageContent():
                return ENTRY_BYTES + len(self.content.data)
            case FileContent():
                return ENTRY_BYTES + len(self.content.data) + len(self.content.text)


class FileCache:
    """Keeps the contents that were used last, up to a number of bytes. Threads may share it."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._recent = Recent[tuple[str, bool], Stamp, SeenFile](max_bytes)

    def get(self, path: str, stamp: Stamp, *, is_image: bool) -> SeenFile | None:
        """Return what was read of a file, if it is still the same."""
        return self._recent.get((path, is_image), stamp)

    def put(self, path: str, stamp: Stamp, seen: SeenFile, *, is_image: bool) -> None:
        """Keep what was read of a file, and drop what was not used for longest."""
        self._recent.put((path, is_image), stamp, seen, seen.size)
