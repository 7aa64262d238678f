"""The work on an index: in its file, in a new one if that is damaged, in memory if no file can be used."""

from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import finalize

from conversation_mcp.errors import FilesystemError
from conversation_mcp.stores.index.base import Describe, Page, Place, Standing, Wanted, Watch
from conversation_mcp.stores.index.database import (
    IndexDamagedError,
    IndexFile,
    IndexUnusableError,
    connect,
    fill,
    judged,
    purge_orphans,
)
from conversation_mcp.stores.index.files import Files
from conversation_mcp.stores.index.pages import look_up
from conversation_mcp.stores.index.taking import Taker, standing

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
Work = Callable[["sqlite3.Connection"], T]


class WorkingIndex:
    """The index of one folder. Each call opens a connection of its own, and so sees when the file was replaced."""

    def __init__(self, folder: Path, indexes: Path, describe: Describe, now: Callable[[], datetime]) -> None:
        self._file = IndexFile(folder, indexes)
        self._files = Files(folder, describe, now)
        self._indexes = indexes
        self._now = now
        self._memory: sqlite3.Connection | None = None
        self._memory_lock = Lock()

    @property
    def location(self) -> str:
        """The folder of this index."""
        return str(self._file.home)

    def take_in(self, ids: Collection[str]) -> None:
        """Read the conversations."""
        self._ask(lambda database: Taker(database, self._files).take_in(ids))

    def standing(self) -> Standing:
        """Tell how much is known."""
        return self._ask(standing)[0]

    def compare(self, watch: Watch) -> None:
        """Bring the index up to the folder; a comparison that was cut short goes on where it was."""
        self._ask(lambda database: Taker(database, self._files).compare(watch, self._now()))

    def page(self, wanted: Wanted, limit: int, place: Place | None = None) -> Page:
        """Return the next conversations."""
        page, problem = self._ask(lambda database: look_up(database, self._files, wanted, limit, place))
        if problem is None:
            return page
        return replace(page, notices=(*page.notices, f"no index is kept, so every file was read ({problem})"))

    def rebuild(self, watch: Watch) -> None:
        """Read everything into a new file and put that in the place of the old one, which serves until then."""
        try:
            with self._file.draft() as draft:
                with judged(draft, 0), closing(connect(str(draft))) as database:
                    Taker(database, self._files).compare(watch, self._now())
                if not watch.is_stopped:
                    self._file.put(draft)
        except IndexUnusableError:
            self.compare(watch)

    def erase_leftovers(self) -> None:
        """Write the files anew, without what full-text search and free pages still hold of deleted rows."""
        if self._file.path.exists():
            self._ask(_erase_leftovers)

    def purge_orphans(self) -> None:
        """Remove the indexes of folders that are gone."""
        purge_orphans(self._indexes)

    def _ask(self, work: Work[T]) -> tuple[T, str | None]:
        """Return what the work returns, and why it was not done in the file, if it was not.

        Raises:
            FilesystemError: there is no full-text search at all, or the folder cannot be read.
        """
        try:
            return self._in_file(work), None
        except IndexUnusableError as error:
            problem = str(error)
        try:
            return self._in_memory(work), problem
        except (IndexDamagedError, IndexUnusableError) as error:
            raise FilesystemError(self.location, str(error)) from error

    def _in_file(self, work: Work[T]) -> T:
        """Do the work; in a new file if this one turns out to be damaged."""
        try:
            with self._file.open() as database:
                return work(database)
        except IndexDamagedError as error:
            self._file.replace(error.inode)
        try:
            with self._file.open() as database:
                return work(database)
        except IndexDamagedError as error:
            raise IndexUnusableError(f"{self._file.path}: {error.__cause__ or 'is damaged'}") from error

    def _in_memory(self, work: Work[T]) -> T:
        with self._memory_lock, judged(self._file.path, 0):
            if self._memory is None:
                memory = connect(":memory:")
                finalize(self, memory.close)
                fill(memory)
                Taker(memory, self._files).compare(Watch(), self._now())
                self._memory = memory
            return work(self._memory)


def _erase_leftovers(database: "sqlite3.Connection") -> None:
    database.execute("INSERT INTO messages (messages) VALUES ('optimize')")
    database.execute("VACUUM")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
