"""A derived database in its file, in a new one if that is damaged, and in memory if no file can be used."""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import finalize

from conversation_mcp.errors import FilesystemError
from conversation_mcp.searching.database import IndexDamagedError, IndexFile, IndexUnusableError, connect, judged

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
Work = Callable[["sqlite3.Connection"], T]


class Cache:
    """A database that can be rebuilt. Each piece of work has its own connection, and so notices a replaced file.

    `refill` fills an empty database in memory if no file can be used.
    """

    def __init__(self, file: IndexFile, refill: Work[object]) -> None:
        self._file = file
        self._refill = refill
        self._memory: sqlite3.Connection | None = None
        self._memory_lock = Lock()
        self.problem: str | None = None
        """Why the file could not be updated last, if it could not: the database in memory is then used instead."""
        self.replacements = 0
        """How often a damaged file was replaced by an empty one."""

    def take_in(self, work: Work[T]) -> T:
        """Return the result of work that brings the database up to date. Raises the errors of `look`."""
        self.problem = None
        return self._done(work)

    def take_in_if_kept(self, work: Work[object]) -> None:
        """Do work that a later look can catch up on, without filling a database in memory for it."""
        try:
            self.in_file(work)
        except IndexUnusableError as error:
            self.problem = str(error)
            if self._memory is not None:
                self._in_memory(work)

    def look(self, work: Work[T]) -> T:
        """Return the result of the work.

        Raises:
            FilesystemError: full-text search is not available at all, or what is indexed cannot be read.
        """
        with self._file.reading():
            return self._done(work)

    def _done(self, work: Work[T]) -> T:
        if self.problem is None:
            try:
                return self.in_file(work)
            except IndexUnusableError as error:
                self.problem = str(error)
        try:
            return self._in_memory(work)
        except (IndexDamagedError, IndexUnusableError) as error:
            raise FilesystemError(str(self._file.home), str(error)) from error

    def in_file(self, work: Work[T]) -> T:
        """Do the work, in a new file if this one turns out to be damaged.

        Raises:
            IndexUnusableError: neither file can be used.
        """
        try:
            with self._file.open() as database:
                return work(database)
        except IndexDamagedError as error:
            self._file.replace(error.inode)
            self.replacements += 1
        try:
            with self._file.open() as database:
                return work(database)
        except IndexDamagedError as error:
            raise IndexUnusableError(f"{self._file.path}: {error.__cause__ or 'is damaged'}") from error

    def _in_memory(self, work: Work[T]) -> T:
        with self._memory_lock, judged(self._file.path, 0):  # all threads share this connection; no file to replace
            if self._memory is None:
                self._memory = self._made_in_memory()
            return work(self._memory)

    def _made_in_memory(self) -> "sqlite3.Connection":
        memory = connect(":memory:")
        try:
            self._file.schema.fill(memory)
            self._refill(memory)
        except BaseException:
            memory.close()
            raise
        finalize(self, memory.close)
        return memory
