"""The index as an SQLite full-text database in the user's cache folder, shared by all processes.

It is kept in a file, in a new one if that is damaged, and in memory if no file can be used, which a notice on each page
says. It does not know the records: `describe` returns what to index of a file.
"""

import os
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from conversation_mcp.errors import IndexNotErasedError
from conversation_mcp.records.found import Describe, Page, Place, Wanted
from conversation_mcp.searching.cache import Cache
from conversation_mcp.searching.database import (
    IndexDamagedError,
    IndexFile,
    IndexUnusableError,
    connect,
    judged,
    purge_orphans,
)
from conversation_mcp.sources import APP_NAME
from conversation_mcp.stores.files.index.check import checked
from conversation_mcp.stores.files.index.pages import look_up
from conversation_mcp.stores.files.index.refresh import compare, standing, take_in
from conversation_mcp.stores.files.index.schema import SCHEMA
from conversation_mcp.stores.files.index.stamps import Files
from conversation_mcp.stores.finder import Check, Standing
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    import sqlite3


class SqliteIndex:
    """The index of one folder; satisfies Index. Every call blocks."""

    def __init__(self, folder: Path, indexes: Path, describe: Describe, now: Callable[[], datetime]) -> None:
        self._file = IndexFile([folder], indexes, SCHEMA)
        self._cache = Cache(self._file, lambda memory: self._compare(memory, Headway()))
        self._files = Files(folder, describe, now)
        self._indexes = indexes
        self._now = now

    @property
    def location(self) -> str:
        """The folder of this index."""
        return str(self._file.home)

    def size_bytes(self) -> int | None:
        """Return the size of its files, None if there are none."""
        with suppress(FileNotFoundError), os.scandir(self.location) as entries:
            return sum(entry.stat().st_size for entry in entries)
        return None

    def obstacle(self) -> str | None:
        """Return why the file cannot be written, None if it can. A damaged file is replaced."""
        try:
            self._cache.in_file(_try_to_write)
        except IndexUnusableError as error:
            return str(error)
        return None

    def take_in(self, ids: Collection[str]) -> None:
        """Read the conversations; if they cannot be written to the index, the next page catches up."""
        self._cache.take_in_if_kept(lambda database: take_in(database, self._files, ids))

    def standing(self) -> Standing:
        """Return how much is known."""
        return self._cache.look(standing)

    def compare(self, headway: Headway) -> None:
        """Bring the index up to date with the folder, continuing a comparison that was interrupted."""
        self._cache.take_in(lambda database: self._compare(database, headway))

    def page(self, wanted: Wanted, limit: int, place: Place | None = None) -> Page:
        """Return the next conversations."""
        page = self._cache.look(lambda database: look_up(database, self._files, wanted, limit, place))
        if (problem := self._cache.problem) is None:
            return page
        return page._replace(notices=(*page.notices, f"no index is kept, so every file was read ({problem})"))

    def check(self, headway: Headway) -> Check | None:
        """Compare the index with the files, and change nothing; return None if there is no index yet."""
        try:
            with self._file.look() as database:
                return None if database is None else checked(database, self._files, headway)
        except IndexDamagedError as error:
            return Check(damage=f"{self._file.path}: {error.__cause__ or 'is of another version'}")
        except IndexUnusableError as error:
            return Check(damage=str(error))

    def rebuild(self, headway: Headway) -> None:
        """Read everything into a new file, then replace the old one, which serves until then."""
        try:
            with self._file.draft() as draft:
                with judged(draft, 0), closing(connect(str(draft))) as database:
                    self._compare(database, headway)
                if not headway.is_stopped:
                    self._file.put(draft)
        except IndexUnusableError:
            self.compare(headway)

    def erase(self, ids: Collection[str]) -> None:
        """Rewrite the file without the traces of deleted rows in search structures and free pages, or discard it."""
        try:
            self._file.remove_drafts()  # a rebuild may have read the conversations before they were deleted
            if not self._file.path.exists():
                return
            try:
                self._cache.in_file(lambda database: self._erase(database, ids))
            except IndexUnusableError:
                self._file.replace(self._file.path.stat().st_ino)
        except IndexUnusableError as error:
            raise IndexNotErasedError(self.location, str(error)) from error

    def purge_orphans(self) -> None:
        """Remove the indexes of folders that are gone."""
        purge_orphans(self._indexes)

    def _erase(self, database: "sqlite3.Connection", ids: Collection[str]) -> None:
        take_in(database, self._files, ids)
        # FTS5 keeps the words of deleted rows until segments are merged, SQLite in free pages and in the journal.
        database.execute("INSERT INTO messages (messages) VALUES ('optimize')")
        database.execute("VACUUM")
        if database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise IndexUnusableError(f"{self._file.path}: another process has been reading it for too long")

    def _compare(self, database: "sqlite3.Connection", headway: Headway) -> None:
        compare(database, self._files, headway, self._now())


def indexes_folder() -> Path:
    """Return the folder of all indexes, in the user's cache folder."""
    return user_cache_path(APP_NAME, appauthor=False) / "index"


def _try_to_write(database: "sqlite3.Connection") -> None:
    database.execute("BEGIN IMMEDIATE")
    database.rollback()
