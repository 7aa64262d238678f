"""The index as an SQLite full-text database in the user's cache folder, shared by all processes.

It is kept in a file, in a new one if that is damaged, and in memory if no file can be used, which a notice on each page
says. It does not know the records: `describe` returns what to index of a file.
"""

import time
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from conversation_mcp.errors import ConversationMCPError, IndexNotErasedError
from conversation_mcp.records.found import Describe, Listed, MemoryPage, Page, Place, Wanted, WantedMemories
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
from conversation_mcp.stores.files.index.stamps import Files
from conversation_mcp.stores.files.vault import Vault
from conversation_mcp.stores.finder import Check, Standing
from conversation_mcp.stores.headway import Headway
from conversation_mcp.stores.index.check import checked
from conversation_mcp.stores.index.memory_pages import look_up_memories
from conversation_mcp.stores.index.memory_texts import MemoryTexts
from conversation_mcp.stores.index.pages import known, look_up
from conversation_mcp.stores.index.refresh import compare, standing, take_in
from conversation_mcp.stores.index.schema import SCHEMA

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.searching.vectors.near import Neighbourhood


IN_MEMORY = "in memory only, because conversations are encrypted"


class SqliteIndex:
    """The index of one folder; satisfies Index. Every call blocks."""

    def __init__(
        self, folder: Path, indexes: Path, describe: Describe, now: Callable[[], datetime], vault: Vault
    ) -> None:
        self._file = _file_for(vault, folder, indexes)
        self._build_seconds: float | None = None
        self._cache = Cache(self._file, lambda memory: self._compare(memory, Headway()))
        self._files = Files(folder, describe, now, vault)
        self.indexes = indexes
        self._now = now

    @property
    def is_kept(self) -> bool:
        """Whether it is in a file."""
        return self._file.is_kept

    @property
    def build_seconds(self) -> float | None:
        """How long it took to build the one in memory."""
        return self._build_seconds

    @property
    def file(self) -> IndexFile:
        """The file."""
        return self._file

    @property
    def location(self) -> str:
        """The folder of this index, or that it is in memory."""
        return str(self._file.home) if self._file.is_kept else IN_MEMORY

    def size_bytes(self) -> int | None:
        """Return the size of its files, None if there are none."""
        return self._file.size_bytes()

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
        begun = time.monotonic()
        self._cache.take_in(lambda database: self._compare(database, headway))
        if not self._file.is_kept and self._build_seconds is None and not headway.is_stopped:
            self._build_seconds = time.monotonic() - begun

    def page(
        self, wanted: Wanted, limit: int, place: Place | None = None, around: "Neighbourhood | None" = None
    ) -> Page:
        """Return the next conversations."""
        page = self._cache.look(lambda database: look_up(database, self._files, wanted, limit, place, around))
        if (problem := self._cache.problem) is None:
            return page
        return page._replace(notices=(*page.notices, f"no index is kept, so every file was read ({problem})"))

    def known(self, conversation_id: str) -> Listed | None:
        """Return the facts of a conversation that has not changed since it was read; else None."""
        return self._cache.look(lambda database: known(database, self._files, conversation_id))

    def memories(self, wanted: WantedMemories, limit: int, skip: int = 0) -> MemoryPage:
        """Return the next memories."""
        return self._cache.look(lambda database: look_up_memories(database, self._files, wanted, limit, skip))

    @property
    def memory_texts(self) -> MemoryTexts:
        """The texts of the memories that the index knows."""
        return MemoryTexts(self._cache.look)

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
        if not self._file.is_kept:
            self._file.replace(None)
            self._build_seconds = None
            self.compare(headway)
            return
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
        if not self._file.is_kept:
            self.take_in(ids)
            return
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
        purge_orphans(self.indexes)

    def _erase(self, database: "sqlite3.Connection", ids: Collection[str]) -> None:
        take_in(database, self._files, ids)
        # FTS5 keeps the words of deleted rows until segments are merged, SQLite in free pages and in the journal.
        database.execute("INSERT INTO messages (messages) VALUES ('optimize')")
        database.execute("INSERT INTO memory_words (memory_words) VALUES ('optimize')")
        database.execute("VACUUM")
        if database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise IndexUnusableError(f"{self._file.path}: another process has been reading it for too long")

    def _compare(self, database: "sqlite3.Connection", headway: Headway) -> None:
        compare(database, self._files, headway, self._now())


def _file_for(vault: Vault, folder: Path, indexes: Path) -> IndexFile:
    """Return where the index is kept: in memory if the words are encrypted elsewhere."""
    if not vault.is_sealing:
        return IndexFile([folder], indexes, SCHEMA)
    from conversation_mcp.searching.memory import MemoryIndexFile

    remove_kept(folder, indexes)
    return MemoryIndexFile([folder], indexes, SCHEMA)


def remove_kept(folder: Path, indexes: Path) -> None:
    """Remove the indexes of a folder from the time before it was encrypted."""
    from conversation_mcp.searching.vectors.schema import schema

    for kept in (SCHEMA, schema("turns"), schema("memories")):  # from before it was encrypted
        with suppress(ConversationMCPError):
            IndexFile([folder], indexes, kept).remove()


def indexes_folder() -> Path:
    """Return the folder of all indexes, in the user's cache folder."""
    return user_cache_path(APP_NAME, appauthor=False) / "index"


def _try_to_write(database: "sqlite3.Connection") -> None:
    database.execute("BEGIN IMMEDIATE")
    database.rollback()
