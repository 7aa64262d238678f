"""The contents that questions name, as files `<id>/files/<sha256>`.

Everything blocks, and neither anyio nor the records are imported, so that a finder can use it.
"""

import errno
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.disk.recent import Recent
from conversation_mcp.errors import ConversationNotFoundError, FilesystemError
from conversation_mcp.records.hashes import HASH, hash_of
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.layout import EXPORT_STEM, FILE_NAME, FILES, LOCKS, UNWRITTEN
from conversation_mcp.stores.files.vault import Vault

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

WRITE_WAIT_SECONDS = 30.0
ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EFBIG})
"""What reading a name tells that does not lead to a file as this program writes them."""

Written = tuple[int, int, int, int]
"""Differs between states of a file."""


class ContentFiles:
    """Reads and writes them. What was read is remembered where that is wanted, and read again once it has changed."""

    def __init__(
        self,
        root: Path,
        vault: Vault,
        *,
        is_durable: bool = True,
        recent: Recent[tuple[Path, str], Written, bytes] | None = None,
    ) -> None:
        self._root = root
        self._vault = vault
        self._locks = LockFolder(root / LOCKS)
        self._is_durable = is_durable
        self._recent = recent or Recent[tuple[Path, str], Written, bytes](0)

    def put(self, conversation_id: "ConversationId", contents: Mapping[str, bytes]) -> None:
        """Write those that are not there, or not intact; keeps the promises of `Attachments.put`."""
        folder = self._folder(conversation_id)
        with explained(folder, conversation_id), self._writing(conversation_id):
            try:
                folder.parent.lstat()
                known = self._intact(folder, conversation_id, contents)
                self._write(folder, {name: data for name, data in contents.items() if name not in known})
            except FileNotFoundError:  # also if it was moved to the trash meanwhile: its folder is never made anew
                raise ConversationNotFoundError(conversation_id, str(self._root)) from None

    def get(self, conversation_id: "ConversationId", hashes: Collection[str]) -> dict[str, bytes]:
        """Read those that are there and have their hashes.

        Raises:
            FilesystemError: one is there and cannot be read, or a folder is a link.
        """
        return self.get_in(self._folder(conversation_id), conversation_id, hashes)

    def get_in(self, folder: Path, conversation_id: "ConversationId", hashes: Collection[str]) -> dict[str, bytes]:
        """Read those in that folder of contents; raises as `get`."""
        with explained(folder, conversation_id):
            return self._intact(folder, conversation_id, hashes)

    def sizes(self, conversation_id: "ConversationId") -> dict[str, int]:
        """Return the sizes of all that are there, intact or not."""
        folder = self._folder(conversation_id)
        with explained(folder, conversation_id):
            if not _is_there(folder):
                return {}
            return {name: self._vault.content_size(f"{folder}{os.sep}{name}", size) for name, size in _sizes(folder)}

    def remove(self, conversation_id: "ConversationId", hashes: Collection[str]) -> None:
        """Remove them, with exports and the drafts of dead writers; keeps the promises of `Attachments.remove`."""
        folder = self._folder(conversation_id)
        with explained(folder, conversation_id):
            disk.refuse_link(folder.parent)
            if not folder.parent.is_dir():
                return
            disk.remove_dead_drafts(folder.parent)
            gone = [path for path in folder.parent.iterdir() if path.stem == EXPORT_STEM and not path.is_dir()]
            if _is_there(folder):
                disk.remove_dead_drafts(folder)
                gone += [folder / name for name in hashes if HASH.fullmatch(name)]
            for path in gone:
                path.unlink(missing_ok=True)
            if self._is_durable:
                disk.sync_folder(folder if folder.is_dir() else folder.parent)
        self.forget(conversation_id)

    def forget(self, conversation_id: "ConversationId") -> None:
        """Drop from memory what was read of a conversation."""
        start = f"{self._folder(conversation_id)}{os.sep}"
        self._recent.drop(lambda key: key[0] == self._root and key[1].startswith(start))

    def _folder(self, conversation_id: "ConversationId") -> Path:
        return self._root / check_id(conversation_id) / FILES

    def _intact(self, folder: Path, owner: str, hashes: Collection[str]) -> dict[str, bytes]:
        if not hashes or not _is_there(folder):
            return {}
        start = f"{folder}{os.sep}"
        read = ((name, self._read(start + name, owner, name)) for name in hashes if HASH.fullmatch(name))
        return {name: data for name, data in read if data is not None}

    def _read(self, path: str, owner: str, name: str) -> bytes | None:
        """Return the content if it has its hash."""
        try:
            written = _written(path)
            if (data := self._recent.get((self._root, path), written)) is not None:
                return data
            stored = disk.read_file(Path(path))
        except OSError as error:
            if error.errno not in ABSENT:
                raise
            return None
        data = self._vault.open_content(path, owner, name, stored)
        if data is None or hash_of(data) != name:
            return None
        self._recent.put((self._root, path), written, data, len(data))
        return data

    def _write(self, folder: Path, contents: Mapping[str, bytes]) -> None:
        for name, data in contents.items():
            if not HASH.fullmatch(name) or hash_of(data) != name:
                raise ValueError(name)
            with suppress(FileNotFoundError):  # a link, a folder or a pipe is refused, and left as it is
                os.close(disk.open_regular(str(folder / name), os.O_RDONLY))
        if not contents:
            return
        stored = {name: self._sealed(folder, name, data) for name, data in contents.items()}
        if not os.path.lexists(folder.with_name(FILE_NAME)):
            self._mark_as_unwritten(folder.with_name(UNWRITTEN))
        is_new = disk.claim_folder(folder)
        disk.remove_dead_drafts(folder)
        try:
            disk.replace_files(folder, stored, is_durable=self._is_durable)
        except BaseException:
            with suppress(OSError):
                folder.rmdir()  # fails, as it should, if the folder holds anything
            raise
        if is_new and self._is_durable:
            disk.sync_folder(folder.parent)

    def _sealed(self, folder: Path, name: str, data: bytes) -> bytes:
        stored = self._vault.seal_content(folder.parent, folder.parent.name, name, data)
        if len(stored) > disk.MAX_FILE_BYTES:
            problem = f"is larger than the limit of {disk.MAX_FILE_BYTES >> 20} MiB"
            raise FilesystemError(str(folder / name), problem, folder.parent.name)
        return stored

    def _writing(self, conversation_id: "ConversationId") -> AbstractContextManager[object]:
        """Keep others from making or removing the key of the conversation meanwhile."""
        if not self._vault.is_sealing:
            return nullcontext()
        return self._locks.hold(write_lock(conversation_id), lambda: None, WRITE_WAIT_SECONDS)

    @staticmethod
    def _mark_as_unwritten(path: Path) -> None:
        with suppress(FileExistsError):
            os.close(disk.create_private(path, os.O_WRONLY))


def write_lock(conversation_id: str) -> str:
    """Return the name of the lock that is held for one write of a conversation."""
    return f"{conversation_id}.write.lock"


def _written(path: str) -> Written:
    found = os.lstat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _is_there(folder: Path) -> bool:
    """Tell whether there is a folder of contents. Raises ELOOP if a link stands in its place or above it."""
    disk.refuse_link(folder.parent)
    disk.refuse_link(folder)
    return folder.is_dir()


def _sizes(folder: Path) -> Iterator[tuple[str, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if HASH.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                yield entry.name, entry.stat(follow_symlinks=False).st_size
