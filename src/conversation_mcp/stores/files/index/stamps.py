"""The files of a folder as the index sees them: a stamp that changes with the file, and what is in it."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import open_regular
from conversation_mcp.errors import ConversationCorruptedError, ConversationMCPError
from conversation_mcp.records.found import Describe, Indexed
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.stores.files.scan import is_being_answered

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

UNTRUSTED = 0
"""The stamp of a file that must be read again the next time."""
SETTLED_AFTER = timedelta(seconds=2)
"""A file that was written later than this before it was read may have changed again within one tick of its clock."""
GONE = (FileNotFoundError, NotADirectoryError)


@dataclass(frozen=True)
class Seen:
    """A file that was read: what is in it, or why that cannot be known."""

    stamp: int
    content: Indexed | str


class Files:
    """The conversations of a folder."""

    def __init__(self, root: Path, describe: Describe, now: Callable[[], datetime]) -> None:
        self._root = root
        self._start, self._end = f"{root}{os.sep}", f"{os.sep}conversation.json"
        self._describe = describe
        self._now = now

    def ids(self) -> Iterator[str]:
        """Yield the names that may be conversations, in no order, none where there is no folder."""
        with explained(self._root), suppress(FileNotFoundError), os.scandir(self._root) as entries:
            for entry in entries:
                if SHAPE.fullmatch(name := entry.name):
                    yield name

    def stamps(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the stamps of those files that are there, without reading them."""
        stamps: dict[str, int] = {}
        start, end, lstat = self._start, self._end, os.lstat
        for name in ids:
            try:
                stamps[name] = _stamp(lstat(start + name + end))
            except GONE:
                continue
            except OSError:
                stamps[name] = UNTRUSTED
        return stamps

    def read(self, conversation_id: str) -> Seen | None:
        """Return what is in the file now, None if there is none."""
        path = self._start + conversation_id + self._end
        try:
            with explained(path, conversation_id):
                try:
                    with open(path, "rb", buffering=0, opener=open_regular) as file:
                        found = os.fstat(file.fileno())
                        body = file.readall()
                except GONE:
                    return None
        except ConversationMCPError as error:
            return Seen(UNTRUSTED, error.message)
        stamp = self._settled(found)
        try:
            return Seen(stamp, self._describe(body, path, cast("ConversationId", conversation_id)))
        except ConversationCorruptedError as error:
            return Seen(stamp, error.message)

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether a live process runs a turn on the conversation; leaves no trace."""
        return is_being_answered(self._root, conversation_id)

    def _settled(self, found: os.stat_result) -> int:
        changed = max(found.st_mtime_ns, found.st_ctime_ns) / 1e9
        return UNTRUSTED if changed > (self._now() - SETTLED_AFTER).timestamp() else _stamp(found)


def _stamp(found: os.stat_result) -> int:
    """Return what other files, and the file at other times, do not have: the hash of numbers, which never varies."""
    return hash((found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size))
