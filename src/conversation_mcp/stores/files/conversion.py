"""The conversion of a folder: file by file, each in one step, so that at any moment every file is whole.

Nothing remembers how far it came: each file tells by itself whether it is encrypted. The mark of the folder is made
before anything is encrypted and removed after all is decrypted; the key of a conversation goes only after its files.
"""

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.errors import ConversationMCPError, EncryptionKeyError, FilesystemError
from conversation_mcp.records.hashes import HASH
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.layout import (
    CALLS,
    ENCRYPTION_FILE,
    EXPORT_STEM,
    FILE_NAME,
    FILES,
    KEY_FILE,
    LOCKS,
    TRASH,
    TRASHED,
)
from conversation_mcp.sealing.envelope import BYTES_HEAD
from conversation_mcp.sealing.keys import Encryption
from conversation_mcp.stores.conversion import Convertible, Goal
from conversation_mcp.stores.files.call_conversion import CallConversion
from conversation_mcp.stores.files.contents import WRITE_WAIT_SECONDS, write_lock
from conversation_mcp.stores.files.owners import home_for
from conversation_mcp.stores.files.sealed import SealedVault
from conversation_mcp.stores.files.vault import is_sealed
from conversation_mcp.stores.headway import Headway

DAMAGED = "is damaged, and stays as it is"


class FolderConverter:
    """Converts the folder of one owner; satisfies Converter."""

    def __init__(self, root: Path, owner: str, encryption: Encryption, *, is_durable: bool = True) -> None:
        self._root = root
        self._owner = owner
        self._vault = SealedVault(root, owner, encryption, is_durable=is_durable)
        self._locks = LockFolder(root / LOCKS)
        self._calls = CallConversion(root / CALLS, self._vault)
        self._is_durable = is_durable

    def look(self, goal: Goal) -> Convertible:
        """Look at the beginnings of the files."""
        if goal == "rotate":
            keys = [self._root / ENCRYPTION_FILE, *(folder / KEY_FILE for _, folder in self._folders())]
            return Convertible(keys=sum(map(self._vault.is_wrapped_otherwise, keys)))
        found = Convertible(calls=self._calls.count(goal))
        for _, folder in self._folders():
            with explained(folder), suppress(FileNotFoundError):
                found = found.plus(self._look_into(folder, goal))
        return found

    def convert(self, goal: Goal, headway: Headway) -> Iterator[str]:
        """Convert the mark of the folder, the calls, and each conversation under its write lock."""
        if not self._root.is_dir():
            return
        has_problem = False
        self._vault.require() if goal == "encrypt" else self._vault.check()
        if goal == "rotate":
            self._vault.wrap_anew(self._root / ENCRYPTION_FILE, ("folder", self._owner))
        folders = sorted(self._folders())
        headway.total = len(folders)
        for conversation_id, folder in folders:
            try:
                for problem in self._convert(conversation_id, folder, goal):
                    has_problem = True
                    yield problem
            except EncryptionKeyError:
                raise
            except ConversationMCPError as error:
                has_problem = True
                yield error.message
            headway.seen += 1
        if goal == "encrypt":
            self._calls.encrypt()
            _forget_indexes(self._root)
        elif goal == "decrypt" and not has_problem:
            self._calls.decrypt()
            with explained(self._root):
                (self._root / ENCRYPTION_FILE).unlink(missing_ok=True)

    def _folders(self) -> Iterator[tuple[str, Path]]:
        for place, names in ((self._root, SHAPE), (self._root / TRASH, TRASHED)):
            with explained(place), suppress(FileNotFoundError), os.scandir(place) as entries:
                for entry in entries:
                    if names.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                        yield entry.name.partition(".")[0], Path(entry)

    def _look_into(self, folder: Path, goal: Goal) -> Convertible:
        wanted = goal == "decrypt"
        sealed = [_head_is_sealed(path) for path in (folder / FILE_NAME,) if path.is_file()]
        contents = sum(_begins_sealed(path) == wanted for path in _contents(folder))
        exports = 0 if wanted else len(_exports(folder))
        return Convertible(sealed.count(wanted), contents, exports=exports)

    def _convert(self, conversation_id: str, folder: Path, goal: Goal) -> Iterable[str]:
        with self._held(conversation_id, folder) as is_there:
            if not is_there:
                return ()
            if goal == "rotate":
                self._vault.wrap_anew(folder / KEY_FILE, ("key", self._owner, conversation_id))
                return ()
            disk.remove_dead_drafts(folder)
            disk.remove_dead_drafts(folder / FILES)
            return (
                self._encrypt(conversation_id, folder) if goal == "encrypt" else self._decrypt(conversation_id, folder)
            )

    def _encrypt(self, conversation_id: str, folder: Path) -> list[str]:
        path = folder / FILE_NAME
        if (stored := _read(path)) is not None and not is_sealed(stored):
            self._replace(path, self._vault.seal(folder, conversation_id, stored))
        for content in _contents(folder):
            if not _begins_sealed(content):
                data = disk.read_file(content)
                self._replace(content, self._vault.seal_content(folder, conversation_id, content.name, data))
        for export in _exports(folder):
            export.unlink()
        return []

    def _decrypt(self, conversation_id: str, folder: Path) -> list[str]:
        problems: list[str] = []
        for content in _contents(folder):
            if _begins_sealed(content):
                data = self._vault.open_content(str(content), conversation_id, content.name, disk.read_file(content))
                if data is None:
                    problems.append(f"{content} {DAMAGED}")
                else:
                    self._replace(content, data)
        path = folder / FILE_NAME
        if (stored := _read(path)) is not None and is_sealed(stored):
            self._replace(path, self._vault.open(str(path), conversation_id, stored))
        if not problems:
            (folder / KEY_FILE).unlink(missing_ok=True)
        return problems

    def _replace(self, path: Path, data: bytes) -> None:
        """Replace the content and keep its time: lists read the latest files first, and then stop."""
        if len(data) > disk.MAX_FILE_BYTES:
            problem = f"would be larger than the limit of {disk.MAX_FILE_BYTES >> 20} MiB, and stays as it is"
            raise FilesystemError(str(path), problem)
        found = path.stat()
        disk.replace_file(path, data, is_durable=self._is_durable)
        with suppress(OSError):
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    @contextmanager
    def _held(self, conversation_id: str, folder: Path) -> Generator[bool]:
        """Hold the write lock, and tell whether the folder is still there."""
        with explained(folder, conversation_id):
            disk.refuse_link(folder)
        hold = self._locks.hold(write_lock(conversation_id), lambda: None, WRITE_WAIT_SECONDS)
        with hold, explained(folder, conversation_id):
            yield folder.is_dir()


def _contents(folder: Path) -> list[Path]:
    files = folder / FILES
    if files.is_symlink() or not files.is_dir():
        return []
    return sorted(path for path in files.iterdir() if HASH.fullmatch(path.name) and path.is_file())


def _exports(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.stem == EXPORT_STEM and path.is_file()]


def _read(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return disk.read_file(path)
    return None


def _head_is_sealed(path: Path) -> bool:
    return is_sealed(disk.read_file(path))


def _begins_sealed(path: Path) -> bool:
    with open(path, "rb", buffering=0, opener=disk.open_regular) as file:
        return file.read(len(BYTES_HEAD)) == BYTES_HEAD


def _forget_indexes(root: Path) -> None:
    from conversation_mcp.stores.files.index.sqlite import indexes_folder, remove_kept

    remove_kept(root, indexes_folder())


def build(url: str, owner: str, encryption: Encryption) -> FolderConverter:
    """Make the converter of the owner's folder below the one that the URL names."""
    return FolderConverter(home_for(url, owner).absolute(), owner, encryption)
