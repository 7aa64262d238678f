"""Marks of conversations that were deleted for good, so that an import does not bring them back.

A mark is a hash of a conversation's origin and its id there, and reveals nothing of its text.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from conversation_mcp.disk import files as disk

MARK = re.compile(rb"^[0-9a-f]{32}$", re.MULTILINE)


class Marks:
    """A private file with one mark per line, to which any process may append at any time."""

    def __init__(self, path: Path, *, is_durable: bool) -> None:
        self._path = path
        self._is_durable = is_durable

    def add(self, mark: str) -> bool:
        """Add the mark durably, and tell whether that worked: a full disk must not prevent a deletion."""
        line = f"{mark}\n".encode()
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | disk.PLAIN_FLAGS, disk.FILE_MODE)
            try:
                is_whole = os.write(descriptor, line) == len(line)
                if self._is_durable:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            return is_whole
        return False

    def all(self) -> frozenset[str]:
        """Return all marks; none if the file is missing or cannot be read."""
        with suppress(OSError):
            return frozenset(mark.decode() for mark in MARK.findall(disk.read_file(self._path)))
        return frozenset()
