"""The conversations of a folder as plain JSON data, for commands that go through thousands of them.

Nothing here imports the records: validating them takes longer than reading the files.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import open_regular
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.facts import facts_of
from conversation_mcp.records.found import Listed
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.layout import FILE_NAME, LOCKS, TRASH, TRASHED
from conversation_mcp.records.plain import Data, read_data

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.stores.files.vault import Vault

MadeT = TypeVar("MadeT")


class File(NamedTuple):
    """A file that was found but not read yet."""

    conversation_id: "ConversationId"
    path: str
    written: float
    """When the file was written, in seconds since 1970."""
    size_bytes: int


def find_all(root: Path) -> Iterator[File]:
    """Yield the conversations of the folder and of its trash. Raises the errors of `find`."""
    yield from find(root)
    yield from find(root / TRASH, TRASHED)


def find(root: Path, names: re.Pattern[str] = SHAPE) -> Iterator[File]:
    """Yield the conversations of the folder in no particular order; none if there is no folder.

    Raises:
        FilesystemError: the folder cannot be read.
    """
    with explained(root), suppress(FileNotFoundError), os.scandir(root) as entries:
        for entry in entries:
            if names.fullmatch(entry.name):
                path = os.path.join(entry.path, FILE_NAME)  # noqa: PTH118 -- a Path for each of thousands costs as much as reading
                with suppress(FileNotFoundError, NotADirectoryError):
                    yield File(cast("ConversationId", entry.name.partition(".")[0]), path, *_stamp(path))


def file_of(root: Path, conversation_id: "ConversationId") -> File | None:
    """Return the file of a conversation, None if there is none."""
    path = str(root / conversation_id / FILE_NAME)
    with suppress(FileNotFoundError, NotADirectoryError):
        return File(conversation_id, path, *_stamp(path))
    return None


def is_being_answered(root: Path, conversation_id: str) -> bool:
    """Tell whether a live process runs a turn on a conversation of the folder. Leaves no trace."""
    from conversation_mcp.disk.locks import LockFolder

    try:
        return LockFolder(root / LOCKS).is_locked(f"{conversation_id}.lock")
    except ConversationMCPError:
        return False


def facts_in(file: File, data: Data) -> Listed:
    """Return what a list shows of the data of a file."""
    return facts_of(data, file.conversation_id, file.size_bytes)


def _stamp(path: str) -> tuple[float, int]:
    try:
        found = os.lstat(path)
    except PermissionError:  # reported when the file is read
        return 0.0, 0
    return found.st_mtime, found.st_size


def read_each(
    files: Iterable[File], make: Callable[[File, Data], MadeT], problems: list[str], vault: "Vault"
) -> Iterator[tuple[File, MadeT]]:
    """Yield the result of `make` for each file that can be read; add to `problems` why the others cannot."""
    for file in files:
        try:
            made = _read(file, make, vault)
        except ConversationMCPError as error:
            problems.append(error.message)
        else:
            if made is not None:
                yield file, made


def _read(file: File, make: Callable[[File, Data], MadeT], vault: "Vault") -> MadeT | None:
    """Return the result of `make` for a file, None if the file is gone."""
    with explained(file.path, file.conversation_id):
        try:
            with open(file.path, "rb", buffering=0, opener=open_regular) as opened:
                stored = opened.readall()
            body = vault.open(file.path, file.conversation_id, stored)
        except FileNotFoundError:
            return None
    return make(file, read_data(body, file.path, file.conversation_id))
