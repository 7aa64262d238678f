"""The contents that questions name, as files `<id>/files/<sha256>`.

Everything blocks, and neither anyio nor the records are imported, so that a finder can use it.
"""

import errno
import os
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.errors import ConversationNotFoundError, FilesystemError
from conversation_mcp.records.hashes import HASH, hash_of
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.layout import FILE_NAME, FILES, UNWRITTEN

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

CACHE_BYTES = 16 * 1024 * 1024
ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EFBIG})
"""What reading a name tells that does not lead to a file as this program writes them."""

Written = tuple[int, int, int, int]
"""Differs between states of a file."""


class ContentFiles:
    """Reads and writes them. What was read is remembered, up to `cache_bytes`, and read again once it has changed."""

    def __init__(self, root: Path, *, is_durable: bool = True, cache_bytes: int = 0) -> None:
        self._root = root
        self._is_durable = is_durable
        self._cache = _Cache(cache_bytes)

    def put(self, conversation_id: "ConversationId", contents: Mapping[str, bytes]) -> None:
        """Write those that are not there, or not intact; keeps the promises of `Attachments.put`."""
        folder = self._folder(conversation_id)
        with explained(folder, conversation_id):
            try:
                folder.parent.lstat()
                known = self._intact(folder, contents)
                self._write(folder, {name: data for name, data in contents.items() if name not in known})
            except FileNotFoundError:  # also if it was moved to the trash meanwhile: its folder is never made anew
                raise ConversationNotFoundError(conversation_id, str(self._root)) from None

    def get(self, conversation_id: "ConversationId", hashes: Collection[str]) -> dict[str, bytes]:
        """Read those that are there and have their hashes.

        Raises:
            FilesystemError: one is there and cannot be read, or a folder is a link.
        """
        folder = self._folder(conversation_id)
        with explained(folder, conversation_id):
            return self._intact(folder, hashes)

    def sizes(self, conversation_id: "ConversationId") -> dict[str, int]:
        """Return the sizes of all that are there, intact or not."""
        folder = self._folder(conversation_id)
        with explained(folder, conversation_id):
            return dict(_sizes(folder)) if _is_there(folder) else {}

    def forget(self, conversation_id: "ConversationId") -> None:
        """Drop from memory what was read of a conversation."""
        self._cache.drop(f"{self._folder(conversation_id)}{os.sep}")

    def _folder(self, conversation_id: "ConversationId") -> Path:
        return self._root / check_id(conversation_id) / FILES

    def _intact(self, folder: Path, hashes: Collection[str]) -> dict[str, bytes]:
        if not hashes or not _is_there(folder):
            return {}
        start = f"{folder}{os.sep}"
        read = ((name, self._read(start + name, name)) for name in hashes if HASH.fullmatch(name))
        return {name: data for name, data in read if data is not None}

    def _read(self, path: str, name: str) -> bytes | None:
        """Return the content if it has its hash."""
        try:
            written = _written(path)
            if (data := self._cache.get(path, written)) is not None:
                return data
            data = disk.read_file(Path(path))
        except OSError as error:
            if error.errno not in ABSENT:
                raise
            return None
        if hash_of(data) != name:
            return None
        self._cache.put(path, written, data)
        return data

    def _write(self, folder: Path, contents: Mapping[str, bytes]) -> None:
        for name, data in contents.items():
            if not HASH.fullmatch(name) or hash_of(data) != name:
                raise ValueError(name)
            if len(data) > disk.MAX_FILE_BYTES:
                problem = f"is larger than the limit of {disk.MAX_FILE_BYTES >> 20} MiB"
                raise FilesystemError(str(folder / name), problem, folder.parent.name)
            with suppress(FileNotFoundError):  # a link, a folder or a pipe is refused, and left as it is
                os.close(disk.open_regular(str(folder / name), os.O_RDONLY))
        if not contents:
            return
        if not os.path.lexists(folder.with_name(FILE_NAME)):
            self._mark_as_unwritten(folder.with_name(UNWRITTEN))
        is_new = disk.claim_folder(folder)
        disk.remove_dead_drafts(folder)
        try:
            disk.replace_files(folder, contents, is_durable=self._is_durable)
        except BaseException:
            with suppress(OSError):
                folder.rmdir()  # fails, as it should, if the folder holds anything
            raise
        if is_new and self._is_durable:
            disk.sync_folder(folder.parent)

    @staticmethod
    def _mark_as_unwritten(path: Path) -> None:
        with suppress(FileExistsError):
            os.close(disk.create_private(path, os.O_WRONLY))


class _Cache:
    """Contents by path, the least recently used first; `limit_bytes` of them at most."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held: OrderedDict[str, tuple[Written, bytes]] = OrderedDict()
        self._held_bytes = 0
        self._lock = Lock()

    def get(self, path: str, written: Written) -> bytes | None:
        with self._lock:
            known, data = self._held.get(path, (None, b""))
            if known != written:
                return None
            self._held.move_to_end(path)
            return data

    def put(self, path: str, written: Written, data: bytes) -> None:
        if len(data) > self._limit_bytes:
            return
        with self._lock:
            self._remove(path)
            self._held[path] = written, data
            self._held_bytes += len(data)
            while self._held_bytes > self._limit_bytes:
                self._remove(next(iter(self._held)))

    def drop(self, start: str) -> None:
        with self._lock:
            for path in [path for path in self._held if path.startswith(start)]:
                self._remove(path)

    def _remove(self, path: str) -> None:
        if (held := self._held.pop(path, None)) is not None:
            self._held_bytes -= len(held[1])


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
