"""The audit trail as a file in `.audit`, appended to under a lock."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.records.audit import AuditEvent, line_after
from conversation_mcp.records.layout import AUDIT
from conversation_mcp.records.models import iso
from conversation_mcp.stores.audit import AuditTrail
from conversation_mcp.stores.files.place import folder_of

FILE = "audit.jsonl"
LOCK = "audit.lock"
LOCK_SECONDS = 30.0
TAIL_BYTES = 64 * 1024
END = b"\n"


class AuditFile:
    """A line for each event; satisfies AuditTrail."""

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self._folder = root / AUDIT
        self._path = self._folder / FILE
        self._locks = LockFolder(self._folder)
        self._now = now

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self._path)

    def add(self, event: AuditEvent, *, is_durable: bool = True) -> None:
        """Read the last line, and append the next one in one write."""
        with self._locks.hold(LOCK, self._make_folder, LOCK_SECONDS), explained(self._path):
            descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | disk.PLAIN_FLAGS, disk.FILE_MODE)
            try:
                last, is_torn = _last_line(descriptor)
                line = line_after(last, event, iso(self._now())) + END
                # A line that a killed write has left stays, and is found when the trail is checked.
                whole = END + line if is_torn else line
                if os.write(descriptor, whole) < len(whole):
                    raise OSError(None, "the line could not be written whole", str(self._path))
                if is_durable:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def lines(self) -> Iterator[bytes]:
        """Read the file, however large it is."""
        with explained(self._path), suppress(FileNotFoundError):
            disk.refuse_link(self._folder)
            disk.refuse_link(self._path)
            with self._path.open("rb") as file:
                for line in file:
                    yield line.removesuffix(END)

    def _make_folder(self) -> None:
        with explained(self._folder):
            disk.make_private_folder(self._folder)
            ignore = self._folder / ".gitignore"
            if not os.path.lexists(ignore):
                disk.replace_file(ignore, b"*\n", is_durable=False)


def _last_line(descriptor: int) -> tuple[bytes | None, bool]:
    """Return the last line, None in an empty file, and whether it has no end."""
    at = size = os.fstat(descriptor).st_size
    tail = b""
    while at and tail.removesuffix(END).count(END) == 0:
        start = max(0, at - TAIL_BYTES)
        os.lseek(descriptor, start, os.SEEK_SET)
        tail = _read(descriptor, at - start) + tail
        at = start
    if not size:
        return None, False
    return tail.removesuffix(END).rpartition(END)[2], not tail.endswith(END)


def _read(descriptor: int, count: int) -> bytes:
    found = b""
    while len(found) < count and (piece := os.read(descriptor, count - len(found))):
        found += piece
    return found


def build(url: str, now: Callable[[], datetime]) -> AuditTrail:
    """Make the audit trail of the folder that the URL names, which need not exist."""
    return AuditFile(folder_of(url), now)
