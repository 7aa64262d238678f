"""A new zip file with the SHA-256 of everything in it."""

import os
import zipfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import FILE_MODE, make_private_folder, new_file
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.hashes import hash_of

SUMS = "SHA256SUMS"
"""Lists the other files as `sha256sum --check` reads them."""


class NewArchive:
    """The archive while it is written."""

    def __init__(self, file: BinaryIO, moment: datetime) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._moment = moment.timetuple()[:6]
        self._sums: dict[str, str] = {}

    def add(self, name: str, data: bytes) -> None:
        """Add a file, readable only by whoever unpacks it; blocks."""
        self._write(name, data)
        self._sums[name] = hash_of(data)

    def close(self) -> None:
        """Add the sums, and the directory without which nothing can be read; blocks."""
        self._write(SUMS, "".join(f"{found}  {name}\n" for name, found in self._sums.items()).encode())
        self._zip.close()

    def _write(self, name: str, data: bytes) -> None:
        entry = zipfile.ZipInfo(name, self._moment)
        # The upper half is the mode that Unix knows.
        entry.external_attr = FILE_MODE << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, data)


@contextmanager
def new_archive(path: Path, moment: datetime) -> Generator[NewArchive]:
    """Yield an archive that appears at the path when the block has ended, and never in the place of anything.

    Raises:
        InvalidInputError: there is something at the path.
        FilesystemError: it cannot be written; nothing is left of it.
    """
    with explained(path):
        if os.path.lexists(path):
            raise _taken(path)
        make_private_folder(path.absolute().parent)
        try:
            with new_file(path) as file, _closed(NewArchive(file, moment)) as archive:
                yield archive
        except FileExistsError:  # it came meanwhile
            raise _taken(path) from None


@contextmanager
def _closed(archive: NewArchive) -> Generator[NewArchive]:
    try:
        yield archive
    except BaseException:
        with suppress(OSError):  # else the zip file would try to end itself when the draft is closed
            archive.close()
        raise
    archive.close()


def _taken(path: Path) -> InvalidInputError:
    return InvalidInputError(f"{path} exists already, and an archive replaces nothing; name another file.")
