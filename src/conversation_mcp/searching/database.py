"""The file of a derived database: private, replaced if it is damaged, removed when the things indexed are gone."""

import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import FILE_MODE, create_private, make_private_folder, refuse_link
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.errors import ConversationMCPError

if TYPE_CHECKING:
    import sqlite3

NAME_CHARS = 20
LOCK_WAIT_SECONDS = 30.0
BUSY_SECONDS = 10.0
CACHE_KIB = 4_096
FILE_NAME = "index.db"
FOLDER_NAME = "folder"
LOCKS = ".locks"
JOURNALS = (f"{FILE_NAME}-wal", f"{FILE_NAME}-shm")
FORGOTTEN_AFTER_SECONDS = 86_400
# Beside broken pages, what our own statements meet only if tables and rows are not as they were written.
DAMAGE = frozenset({"ERROR", "CORRUPT", "NOTADB", "CONSTRAINT", "MISMATCH", "SCHEMA", "INTERNAL", "RANGE"})
# The file is shorter than it says; other errors of reading are those of the disk.
TORN = "SQLITE_IOERR_SHORT_READ"


class IndexUnusableError(Exception):
    """The file of the index cannot be used, for the reason in the message."""


class IndexDamagedError(Exception):
    """The file is not an index of this version."""

    def __init__(self, inode: int) -> None:
        super().__init__(inode)
        self.inode = inode


@dataclass(frozen=True)
class Schema:
    """The tables of a database; one of another version is rebuilt. `kind` is part of the name of its folder."""

    version: int
    tables: str
    kind: str = ""

    def fill(self, database: "sqlite3.Connection") -> None:
        """Make the tables of an empty database."""
        # So that neither readers wait for a writer nor a writer for them.
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(f"{self.tables}; PRAGMA user_version = {self.version};")


class IndexFile:
    """The index file of some folders and files, in its own folder inside the folder of all indexes."""

    is_kept = True
    """Whether it outlives this process."""

    def __init__(self, owners: Sequence[Path], indexes: Path, schema: Schema) -> None:
        self._owners = owners
        self._indexes = indexes
        self.schema = schema

    @cached_property
    def home(self) -> Path:
        """The folder of the file, named after the real paths of what is indexed."""
        return self._indexes / sha256(self._real_owners() + self.schema.kind.encode()).hexdigest()[:NAME_CHARS]

    @cached_property
    def path(self) -> Path:
        """The path of the file."""
        return self.home / FILE_NAME

    @contextmanager
    def open(self) -> Generator["sqlite3.Connection"]:
        """Yield a new connection, creating the file if it does not exist.

        Raises:
            IndexDamagedError: the file is damaged, even if only the block finds out.
            IndexUnusableError: the file cannot be used, even if only the block finds out.
        """
        with _usable(self.home):
            if not self.path.exists():
                self.replace(None)
            refuse_link(self.home)
            refuse_link(self.path)
            inode = _keep_private(self.path)
        with judged(self.path, inode), closing(connect(str(self.path))) as database:
            self._require_version(database, inode)
            yield database

    @contextmanager
    def look(self) -> Generator["sqlite3.Connection | None"]:
        """Yield a connection that changes nothing, None if there is no file. Raises the errors of `open`."""
        with _usable(self.path):
            is_there = self.path.exists()
        if not is_there:
            yield None
            return
        with _usable(self.path):
            refuse_link(self.home)
            refuse_link(self.path)
            inode = self.path.stat().st_ino
        # Not mode=ro, which cannot open the file while the journal of a killed writer has to be recovered.
        with judged(self.path, inode), closing(connect(f"{self.path.as_uri()}?mode=rw")) as database:
            database.execute("PRAGMA query_only = ON")
            self._require_version(database, inode)
            yield database

    def reading(self) -> AbstractContextManager[object]:
        """Hold what readers must hold: nothing, because each has a connection of its own."""
        return nullcontext()

    def size_bytes(self) -> int | None:
        """Return the size of its files, None if there are none."""
        with suppress(FileNotFoundError), os.scandir(self.home) as entries:
            return sum(entry.stat().st_size for entry in entries)
        return None

    def replace(self, damaged_inode: int | None) -> None:
        """Put an empty index in place if there is none, or if the damaged one is still there."""
        with _usable(self.home), self._locked():
            with suppress(FileNotFoundError):  # another inode: another process has replaced it already
                if self.path.lstat().st_ino != damaged_inode:
                    return
            with self.draft() as draft:
                self._put(draft)

    @contextmanager
    def draft(self) -> Generator[Path]:
        """Yield the path of an empty index beside the file; it is removed unless it was put in place."""
        with _usable(self.home):
            make_private_folder(self.home)
            path = self.home / f"{FILE_NAME}.{token_hex(8)}"
            os.close(create_private(path, os.O_WRONLY))
        try:
            with judged(path, 0), closing(connect(str(path))) as database:
                self.schema.fill(database)
            yield path
        finally:
            for left in self.home.iterdir():  # each pattern of a glob would be compiled, and kept for a while
                if left.name.startswith(path.name):
                    left.unlink(missing_ok=True)

    def put(self, draft: Path) -> None:
        """Put a draft in place of the file, if any. No connection to the draft may be open."""
        with _usable(self.home), self._locked():
            self._put(draft)

    def remove_drafts(self) -> None:
        """Remove the drafts of rebuilds; a rebuild that is still running fails, and a comparison replaces it."""
        if not self.home.exists():
            return
        with _usable(self.home), self._locked():
            for stray in self.home.glob(f"{FILE_NAME}.*"):
                stray.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the file with its folder and its lock.

        Raises:
            FilesystemError: it cannot be removed.
        """
        with explained(self.home):
            if not self.home.exists():
                return
            with self._locked():
                shutil.rmtree(self.home)
            lock_folder(self._indexes).remove(f"{self.home.name}.lock")

    def _require_version(self, database: "sqlite3.Connection", inode: int) -> None:
        if database.execute("PRAGMA user_version").fetchone() != (self.schema.version,):
            raise IndexDamagedError(inode)

    def _put(self, draft: Path) -> None:
        # The journal of the file that is replaced must go: SQLite would replay it into the new one.
        long_ago = draft.stat().st_mtime - FORGOTTEN_AFTER_SECONDS
        for stray in self.home.glob(f"{FILE_NAME}?*"):
            if stray.name in JOURNALS or stray.lstat().st_mtime < long_ago:
                stray.unlink(missing_ok=True)
        record = self.home / FOLDER_NAME
        record.unlink(missing_ok=True)
        with os.fdopen(create_private(record, os.O_WRONLY), "wb") as file:
            file.write(self._real_owners())
        draft.replace(self.path)

    def _locked(self) -> AbstractContextManager[object]:
        make = partial(make_private_folder, self._indexes)
        return lock_folder(self._indexes).hold(f"{self.home.name}.lock", make, LOCK_WAIT_SECONDS)

    def _real_owners(self) -> bytes:
        return b"\0".join(os.fsencode(owner.resolve()) for owner in self._owners)


def connect(path: str) -> "sqlite3.Connection":
    """Open a database by path or URI; each statement is its own transaction unless one is begun."""
    import sqlite3

    is_uri = path.startswith("file:")
    database = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=is_uri)
    try:
        database.execute("PRAGMA synchronous = NORMAL")  # after a power cut, what is lost is derived again
        database.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def transaction(database: "sqlite3.Connection") -> Generator[None]:
    """Hold the right to write, and keep either everything that the block writes or nothing."""
    guard: AbstractContextManager[object] = getattr(database, "guard", nullcontext())  # of one that threads share
    with guard:
        database.execute("BEGIN IMMEDIATE")  # waits here for another writer; a later upgrade would fail at once
        try:
            yield
        except BaseException:
            database.rollback()
            raise
        database.commit()


def purge_orphans(indexes: Path) -> None:
    """Remove the indexes whose folders and files are all gone, except those that another process is creating."""
    for record in indexes.glob(f"*/{FOLDER_NAME}"):
        with suppress(OSError, ConversationMCPError):
            if any(Path(os.fsdecode(owner)).exists() for owner in record.read_bytes().split(b"\0")):
                continue
            name = record.parent.name
            if lock := lock_folder(indexes).try_lock(f"{name}.lock", lambda: None):
                try:
                    shutil.rmtree(record.parent)
                    (indexes / LOCKS / f"{name}.lock").unlink()
                finally:
                    lock.release()


def lock_folder(indexes: Path) -> LockFolder:
    """Return the locks that guard the creation and removal of indexes."""
    return LockFolder(indexes / LOCKS)


@contextmanager
def judged(path: Path, inode: int) -> Generator[None]:
    """Distinguish damage, which a new file repairs, from errors that a new file would meet too."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
        if inode and (name == TORN or name.split("_")[1] in DAMAGE):
            raise IndexDamagedError(inode) from error
        raise IndexUnusableError(f"{path}: {error}") from error


@contextmanager
def _usable(path: Path) -> Generator[None]:
    try:
        with explained(path):
            yield
    except ConversationMCPError as error:
        raise IndexUnusableError(error.message.rstrip(".")) from error


def _keep_private(path: Path) -> int:
    """Return the inode of the file, after making sure that other users cannot read it."""
    found = path.stat()
    if os.name == "posix" and found.st_mode & 0o077:
        path.chmod(FILE_MODE)
    return found.st_ino
