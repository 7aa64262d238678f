"""The files of a folder as the index sees them: stamps that change with the files, and their contents."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import open_regular
from conversation_mcp.errors import ConversationCorruptedError, ConversationMCPError
from conversation_mcp.records.found import Describe, Indexed
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.searching.stamped import UNTRUSTED, Seen, batched, settled, stamp_of
from conversation_mcp.stores.files.scan import is_being_answered

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.stores.files.vault import Vault

GONE = (FileNotFoundError, NotADirectoryError)


class Files:
    """The conversations of a folder; satisfies Things. A thing is a stamp; its content may be a problem."""

    def __init__(
        self,
        root: Path,
        describe: Describe,
        now: Callable[[], datetime],
        vault: "Vault",
        *,
        is_by_age: bool = False,
    ) -> None:
        self._root = root
        self._vault = vault
        self._start, self._end = f"{root}{os.sep}", f"{os.sep}conversation.json"
        self._describe = describe
        self._now = now
        self._is_by_age = is_by_age

    def by_age(self) -> "Files":
        """Return the same files in the order of their ids, which are all held in memory for it."""
        return Files(self._root, self._describe, self._now, self._vault, is_by_age=True)

    def batches(self) -> Iterator[dict[str, int]]:
        """Yield the stamps; none if there is no folder."""
        ids = sorted(self._ids()) if self._is_by_age else self._ids()
        yield from (self.stamps(sorted(batch)) for batch in batched(ids))

    def _ids(self) -> Iterator[str]:
        """Yield the names that may be conversations."""
        with explained(self._root), suppress(FileNotFoundError), os.scandir(self._root) as entries:
            for entry in entries:
                if SHAPE.fullmatch(name := entry.name):
                    yield name

    def stamp(self, thing: int) -> int:
        """Return the stamp itself."""
        return thing

    def is_gone(self, key: str) -> bool:
        """Tell whether the file does not exist now."""
        return not self.stamps([key])

    def stamps(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the stamps of the files that exist, without reading them."""
        stamps: dict[str, int] = {}
        start, end, lstat = self._start, self._end, os.lstat  # local names: this loop is most of a comparison
        for name in ids:
            try:
                stamps[name] = stamp_of(lstat(start + name + end))
            except GONE:
                continue
            except OSError:
                stamps[name] = UNTRUSTED
        return stamps

    def read(self, key: str, thing: int = UNTRUSTED) -> Seen[Indexed | str] | None:
        """Return the content of the file, or why it cannot be read; None if there is no file."""
        del thing
        path = self._start + key + self._end
        stamp = UNTRUSTED
        try:
            with explained(path, key):
                try:
                    with open(path, "rb", buffering=0, opener=open_regular) as file:
                        found = os.fstat(file.fileno())
                        stored = file.readall()
                    stamp = settled(stamp_of(found), max(found.st_mtime_ns, found.st_ctime_ns), self._now())
                    body = self._vault.open(path, key, stored)
                except GONE:
                    return None
            content = self._describe(body, path, cast("ConversationId", key))
        except ConversationMCPError as error:
            is_lasting = isinstance(error, ConversationCorruptedError)
            return Seen(stamp if is_lasting else UNTRUSTED, error.message)
        # What lists show is the size of the file, not of what was sealed in it.
        return Seen(stamp, content._replace(facts=content.facts._replace(size_bytes=len(stored))))

    def text(self, key: str, number: int) -> str:
        """Read the file without its memories."""
        from conversation_mcp.records.facts import text_in
        from conversation_mcp.records.plain import read_without_memories

        path = self._start + key + self._end
        try:
            with explained(path, key), open(path, "rb", buffering=0, opener=open_regular) as file:
                body = self._vault.open(path, key, file.readall())
            return text_in(read_without_memories(body, path, cast("ConversationId", key)), number)
        except ConversationMCPError:
            return ""

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether a live process runs a turn on the conversation. Leaves no trace."""
        return is_being_answered(self._root, conversation_id)
