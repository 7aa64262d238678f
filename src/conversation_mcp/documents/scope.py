"""The scope of a question: which documents it is about, by path and by date."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING

from conversation_mcp.documents.ignore_rules import rules_of
from conversation_mcp.records.options import Options, Recency

if TYPE_CHECKING:
    import sqlite3

    from pathspec import GitIgnoreSpec

AGES: dict[Recency, timedelta] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}
NANOSECONDS = 1_000_000_000
FILES = "SELECT id, path, shown FROM files WHERE modified >= ? AND modified < ? AND problem IS NULL"
# Within the integers of SQLite, to which the bounds are given.
FOREVER_NS = 1 << 62


@dataclass(frozen=True)
class Scope:
    """Files that were changed between two times and that match the patterns, or do not match if `is_denied`."""

    patterns: tuple[str, ...] = ()
    is_denied: bool = False
    after_ns: int = -FOREVER_NS
    before_ns: int = FOREVER_NS

    @classmethod
    def of(cls, options: Options, now: datetime) -> "Scope":
        """Read the filters of a question; days are in UTC, and both the first and the last are included."""
        names = options.search_domain_filter or ()
        after, before = -FOREVER_NS, FOREVER_NS
        if options.search_recency_filter:
            after = _nanoseconds(now - AGES[options.search_recency_filter])
        if options.search_after_date_filter:
            after = _nanoseconds(_midnight(options.search_after_date_filter))
        if options.search_before_date_filter:
            before = _nanoseconds(_midnight(options.search_before_date_filter) + timedelta(days=1))
        is_denied = any(name.startswith("-") for name in names)
        return cls(tuple(name.removeprefix("-") for name in names), is_denied, after, before)

    @property
    def is_all(self) -> bool:
        """Whether every file is in scope."""
        return self == Scope()

    def apply(self, database: "sqlite3.Connection") -> int:
        """Fill the table `wanted` of this connection with the files in scope, and return their number."""
        database.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (file INTEGER PRIMARY KEY)")
        database.execute("DELETE FROM wanted")
        takes = self._matcher()
        found = database.execute(FILES, (self.after_ns, self.before_ns)).fetchall()
        wanted = [(file,) for file, path, shown in found if takes(os.fsdecode(path), shown)]
        database.executemany("INSERT INTO wanted VALUES (?)", wanted)
        return len(wanted)

    def _matcher(self) -> Callable[[str, str], bool]:
        if not self.patterns:
            return lambda _path, _shown: True
        relative, absolute = _specs(self.patterns)

        def takes(path: str, shown: str) -> bool:
            is_taken = relative.match_file(shown) or absolute.match_file(PurePath(path).as_posix())
            return is_taken is not self.is_denied

        return takes


def wanted_paths(database: "sqlite3.Connection") -> list[str]:
    """Return the paths of the files in the table `wanted`."""
    found = database.execute("SELECT f.path FROM files f JOIN wanted w ON w.file = f.id")
    return [os.fsdecode(path) for (path,) in found]


def _specs(patterns: tuple[str, ...]) -> "Iterator[GitIgnoreSpec]":
    """Yield the rules for paths below the named folders, and those for whole paths, as lines of a `.gitignore`."""
    posix = [pattern.replace(os.sep, "/").removeprefix("./") for pattern in patterns]
    home = os.path.expanduser("~").replace(os.sep, "/")  # noqa: PTH111 -- a home that is unknown is no error here
    spelled = [home + pattern[1:] if pattern.startswith("~/") else pattern for pattern in posix]
    yield rules_of([_literal(pattern) for pattern in posix])
    yield rules_of([_literal(pattern) for pattern in spelled if os.path.isabs(pattern)])  # noqa: PTH117


def _literal(pattern: str) -> str:
    # In a line of rules these signs mean an exception and a comment.
    return "\\" + pattern if pattern.startswith(("!", "#")) else pattern


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * NANOSECONDS
