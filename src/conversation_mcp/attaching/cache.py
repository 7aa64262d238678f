"""What was read lately, so that a file that has not changed since costs a look, not a read."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from conversation_mcp.attaching.contents import FileContent, ImageContent
from conversation_mcp.attaching.opening import Stamp

MAX_BYTES = 64 * 1024 * 1024
ENTRY_BYTES = 1_000
"""About what an entry takes besides its content."""


@dataclass(frozen=True)
class SeenFile:
    """A whole file as it was read: its content or the reason for having none, and the secret in it if there is one."""

    content: FileContent | ImageContent | str
    secret: str | None = None

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
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, bool], tuple[Stamp, SeenFile]] = OrderedDict()
        self._lock = Lock()

    def get(self, path: str, stamp: Stamp, *, is_image: bool) -> SeenFile | None:
        """Return what was read of a file, if it is still the same."""
        with self._lock:
            kept = self._kept.get((path, is_image))
            if kept is None or kept[0] != stamp:
                return None
            self._kept.move_to_end((path, is_image))
            return kept[1]

    def put(self, path: str, stamp: Stamp, seen: SeenFile, *, is_image: bool) -> None:
        """Keep what was read of a file, and drop what was not used for longest."""
        with self._lock:
            self._drop((path, is_image))
            if seen.size > self._max_bytes:
                return
            self._kept[path, is_image] = (stamp, seen)
            self._bytes += seen.size
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, bool]) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= kept[1].size
