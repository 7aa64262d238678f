"""The index as an SQLite full-text database in the user's cache folder, shared by all processes."""

from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from conversation_mcp.errors import IndexNotErasedError
from conversation_mcp.records.found import Describe, Page, Place, Wanted
from conversation_mcp.stores.files.index.base import Check, Standing, Watch

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.searching.cache import Cache
    from conversation_mcp.searching.database import IndexFile
    from conversation_mcp.stores.files.index.stamps import Files


class SqliteIndex:
    """The index of one folder; satisfies Index. Nothing is loaded or opened before something is asked."""

    def __init__(self, folder: Path, indexes: Path, describe: Describe, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._indexes = indexes
        self._describe = describe
        self._now = now
        self._noted: set[ConversationId] = set()
        self._opened: Cache | None = None
        self._lock = Lock()

    @property
    def location(self) -> str:
        """The folder of this index."""
        return str(self._file.home)

    def obstacle(self) -> str | None:
        """Return why the file cannot be written, None if it can; one that is damaged can be replaced."""
        from conversation_mcp.searching.database import IndexUnusableError

        try:
            self._cache.in_file(_try_to_write)
        except IndexUnusableError as error:
            return str(error)
        return None

    def note(self, conversation_id: "ConversationId") -> None:
        """Remember an id for `take_in_noted`, in this process."""
        self._noted.add(conversation_id)

    def take_in_noted(self) -> None:
        """Read the conversations that were noted; when that cannot be kept, the next page makes up for it."""
        noted: list[ConversationId] = []
        while self._noted:
            noted.append(self._noted.pop())
        if noted:
            self._cache.take_in_if_kept(lambda database: self._take_in(database, noted))

    def standing(self) -> Standing:
        """Tell how much is known."""
        from conversation_mcp.stores.files.index.refresh import standing

        return self._cache.look(standing)

    def compare(self, watch: Watch) -> None:
        """Bring the index up to the folder; a comparison that was cut short goes on where it was."""
        self._noted.clear()
        self._cache.take_in(lambda database: self._compare(database, watch))

    def page(self, wanted: Wanted, limit: int, place: Place | None = None) -> Page:
        """Return the next conversations."""
        from conversation_mcp.stores.files.index.pages import look_up

        page = self._cache.look(lambda database: look_up(database, self._files, wanted, limit, place))
        if (problem := self._cache.problem) is None:
            return page
        return replace(page, notices=(*page.notices, f"no index is kept, so every file was read ({problem})"))

    def check(self, watch: Watch) -> Check | None:
        """Hold what is known against the files and change nothing; None if there is no index yet."""
        from conversation_mcp.searching.database import IndexDamagedError, IndexUnusableError
        from conversation_mcp.stores.files.index.check import checked

        try:
            with self._file.look() as database:
                return None if database is None else checked(database, self._files, watch)
        except IndexDamagedError as error:
            return Check(damage=f"{self._file.path}: {error.__cause__ or 'is of another version'}")
        except IndexUnusableError as error:
            return Check(damage=str(error))

    def rebuild(self, watch: Watch) -> None:
        """Read everything into a new file and put that in the place of the old one, which serves until then."""
        from conversation_mcp.searching.database import IndexUnusableError, connect, judged

        try:
            with self._file.draft() as draft:
                with judged(draft, 0), closing(connect(str(draft))) as database:
                    self._compare(database, watch)
                if not watch.is_stopped:
                    self._file.put(draft)
        except IndexUnusableError:
            self.compare(watch)

    def erase(self, ids: "Collection[ConversationId]") -> None:
        """Write the file anew without what search and free pages hold of deleted rows, or throw it away."""
        from conversation_mcp.searching.database import IndexUnusableError

        try:
            self._file.remove_drafts()
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
        from conversation_mcp.searching.database import purge_orphans

        purge_orphans(self._indexes)

    @cached_property
    def _file(self) -> "IndexFile":
        from conversation_mcp.searching.database import IndexFile
        from conversation_mcp.stores.files.index.schema import SCHEMA

        return IndexFile([self._folder], self._indexes, SCHEMA)

    @cached_property
    def _files(self) -> "Files":
        from conversation_mcp.stores.files.index.stamps import Files

        return Files(self._folder, self._describe, self._now)

    @property
    def _cache(self) -> "Cache":
        from conversation_mcp.searching.cache import Cache

        with self._lock:
            self._opened = self._opened or Cache(self._file, lambda memory: self._compare(memory, Watch()))
            return self._opened

    def _compare(self, database: "sqlite3.Connection", watch: Watch) -> None:
        from conversation_mcp.stores.files.index.refresh import compare

        compare(database, self._files, watch, self._now())

    def _take_in(self, database: "sqlite3.Connection", ids: Collection[str]) -> None:
        from conversation_mcp.stores.files.index.refresh import take_in

        take_in(database, self._files, ids)

    def _erase(self, database: "sqlite3.Connection", ids: Collection[str]) -> None:
        from conversation_mcp.searching.database import IndexUnusableError

        self._take_in(database, ids)
        database.execute("INSERT INTO messages (messages) VALUES ('optimize')")
        database.execute("VACUUM")
        if database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise IndexUnusableError(f"{self._file.path}: somebody has been reading it for too long")


def _try_to_write(database: "sqlite3.Connection") -> None:
    database.execute("BEGIN IMMEDIATE")
    database.rollback()
