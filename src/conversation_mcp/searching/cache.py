"""Work on a derived database: in its file, in a new one if that is damaged, in memory if no file can be used."""

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
    """A database that can be made anew. Each work has a connection of its own, and so sees when the file was replaced.

    `refill` makes up for a file that cannot be used: it fills an empty database in memory.
    """

    def __init__(self, file: IndexFile, refill: Work[object]) -> None:
        self._file = file
        self._refill = refill
        self._memory: sqlite3.Connection | None = None
        self._memory_lock = Lock()
        self.problem: str | None = None
        """Why the file could not take in what there was last, if it could not: then memory is looked into."""
        self.replacements = 0
        """How often a damaged file was replaced by an empty one."""

    def take_in(self, work: Work[T]) -> T:
        """Return what the work returns, which reads what there is now; raises as `look`."""
        self.problem = None
        return self.look(work)

    def take_in_if_kept(self, work: Work[object]) -> None:
        """Do work that a look can make up for: not in memory that was not needed so far."""
        try:
            self.in_file(work)
        except IndexUnusableError as error:
            self.problem = str(error)
            if self._memory is not None:
                self._in_memory(work)

    def look(self, work: Work[T]) -> T:
        """Return what the work returns.

        Raises:
            FilesystemError: there is no full-text search at all, or what is indexed cannot be read.
        """
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
        """Do the work; in a new file if this one turns out to be damaged.

        Raises:
            IndexUnusableError: neither is possible.
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
        with self._memory_lock, judged(self._file.path, 0):
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
