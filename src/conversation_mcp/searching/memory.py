"""A derived database in the memory of this process, for words that must not be in any file."""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from weakref import finalize

from conversation_mcp.searching.database import IndexDamagedError, IndexFile, Schema, judged

PLACE = Path("memory")
"""Stands for the path where an error names one."""


class GuardedConnection(sqlite3.Connection):
    """A connection that threads share; each transaction and each reading holds its guard."""

    def __init__(self, database: str, *, isolation_level: None, check_same_thread: bool) -> None:
        super().__init__(database, isolation_level=isolation_level, check_same_thread=check_same_thread)
        self.guard = RLock()


class MemoryIndexFile(IndexFile):
    """Has a database in place of a file. It begins empty in each process and ends with it."""

    is_kept = False

    def __init__(self, owners: Sequence[Path], indexes: Path, schema: Schema) -> None:
        super().__init__(owners, indexes, schema)
        self._database: GuardedConnection | None = None
        self._making = RLock()

    @contextmanager
    def open(self) -> Generator[sqlite3.Connection]:
        """Yield the connection; a damaged database is replaced as a file is."""
        with judged(PLACE, 1):
            yield self._made()

    @contextmanager
    def look(self) -> Generator[sqlite3.Connection | None]:
        """Yield the connection to what was made, None if nothing was."""
        with judged(PLACE, 1):
            yield self._database

    @contextmanager
    def reading(self) -> Generator[None]:
        """Keep what is being written from being seen in parts."""
        with judged(PLACE, 1):
            database = self._made()
        with database.guard:
            yield

    def replace(self, damaged_inode: int | None) -> None:
        """Begin with an empty database."""
        del damaged_inode
        with self._making:
            self._database = None

    def size_bytes(self) -> int | None:
        """Return the size of the database, None if there is none."""
        if (database := self._database) is None:
            return None
        with suppress(IndexDamagedError), self.reading():
            pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
            return pages * size
        return None

    def _made(self) -> GuardedConnection:
        with self._making:
            if self._database is None:
                database = GuardedConnection(":memory:", isolation_level=None, check_same_thread=False)
                finalize(self, database.close)
                database.execute("PRAGMA temp_store = MEMORY")  # else what is sorted may go to a file
                self.schema.fill(database)
                self._database = database
            return self._database
