"""The stamped index: a database kept up to date with the things that it is derived from.

Each thing has a key, and a stamp that changes with it. New and changed things are read again, and those that are gone
are dropped. Users define how things are found and read (`Things`) and what is kept of them (`StampedRows`); this module
decides when, and in which order.
"""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from conversation_mcp.searching.database import transaction

if TYPE_CHECKING:
    import sqlite3

UNTRUSTED = 0
"""The stamp of a file that must be read again next time."""
SETTLED_AFTER = timedelta(seconds=2)
"""A file read sooner after it was written may change again within the same tick of the file system's clock."""
BATCH = 900
"""Old versions of SQLite accept at most 999 values in a statement."""
MAX_TRANSACTION_SECONDS = 1.0
"""Other writers wait about this long for their turn."""

Thing = TypeVar("Thing")
Content = TypeVar("Content")


def stamp_of(found: os.stat_result) -> int:
    """Return a stamp that differs from that of other files and of other states of this file.

    Python's hash of numbers, unlike that of texts, is the same in every process.
    """
    return hash((found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size))


def settled(stamp: int, changed_ns: int, now: datetime) -> int:
    """Return the stamp of a file that is read now, or `UNTRUSTED` if it was changed too recently."""
    return stamp if is_settled(changed_ns, now) else UNTRUSTED


def is_settled(changed_ns: int, now: datetime) -> bool:
    """Tell whether another change of a file that is read now would show in its times."""
    return changed_ns / 1e9 <= (now - SETTLED_AFTER).timestamp()


@dataclass(frozen=True)
class Seen(Generic[Content]):
    """The content of a thing, and its stamp when it was read."""

    stamp: int
    content: Content


class Things(Protocol[Thing, Content]):
    """The things that a database is derived from."""

    def batches(self) -> Iterator[Mapping[str, Thing]]:
        """Yield the things that exist now, by key, at most `BATCH` at a time."""
        ...

    def stamp(self, thing: Thing) -> int:
        """Return the stamp of a thing when it was found."""
        ...

    def read(self, key: str, thing: Thing) -> Seen[Content] | None:
        """Return the content of the thing now, None if it is gone."""
        ...

    def is_gone(self, key: str) -> bool:
        """Tell whether a thing that was in no batch still does not exist."""
        ...


class StampedRows(ABC, Generic[Content]):
    """Reads and writes the rows of things, inside the caller's transaction."""

    TABLE: ClassVar[str]
    ROW: ClassVar[str]
    """The column of the integer primary key."""
    KEY: ClassVar[str]
    INDEX: ClassVar[str] = ""
    """The index that covers key and stamp, if SQLite would not choose it by itself."""

    def __init__(self, database: "sqlite3.Connection") -> None:
        self.database = database

    @abstractmethod
    def put(self, key: str, seen: Seen[Content]) -> None:
        """Replace what is known of a thing with what was seen."""

    @abstractmethod
    def drop(self, key: str) -> None:
        """Forget a thing, if it is known."""

    def stored(self, key: str) -> str | bytes:
        """Return a key as the table stores it."""
        return key

    def key(self, stored: Any) -> str:  # noqa: ANN401 -- as SQLite returns it
        """Return the key that the table stores."""
        return stored

    def stamps(self, keys: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return row and stored stamp of the things that are known."""
        found = self._select(
            f"{self.KEY}, {self.ROW}, stamp FROM {self._indexed} WHERE {self.KEY} IN ({','.join('?' * len(keys))})",
            *map(self.stored, keys),
        )
        return {self.key(stored): (row, stamp) for stored, row, stamp in found}

    def newest(self) -> int:
        """Return the highest row."""
        return next(self._select(f"coalesce(max({self.ROW}), 0) FROM {self.TABLE}"))[0]

    def unseen(self, seen: bytearray) -> list[str]:
        """Return the keys of the rows that are not marked. Rows added since have no mark and are left out."""
        if next(self._select(f"count(*) FROM {self.TABLE}"))[0] == seen.count(True):
            return []
        rows = self._select(f"{self.ROW}, {self.KEY} FROM {self._indexed} WHERE {self.ROW} < ?", len(seen))
        return [self.key(stored) for row, stored in rows if not seen[row]]

    @property
    def _indexed(self) -> str:
        return f"{self.TABLE} INDEXED BY {self.INDEX}" if self.INDEX else self.TABLE

    def _select(self, what: str, *values: object) -> Iterator[tuple[Any, ...]]:
        return iter(self.database.execute(f"SELECT {what}", values))


@dataclass
class Backlog(Generic[Thing]):
    """The work that a look found, and its progress."""

    total: int = 0
    """The number of things."""
    waiting: int = 0
    """The number of new or changed ones."""
    gone: list[str] = field(default_factory=list[str])
    ahead: list[tuple[str, Thing]] = field(default_factory=list[tuple[str, Thing]])
    """The next new or changed things, in reverse order."""
    rest: Iterator[Mapping[str, Thing]] = field(default_factory=lambda: iter(()))
    """The things to compare a second time, if too many were new or changed to keep them in memory."""
    done: int = 0
    is_done: bool = False


class StopWish(Protocol):
    """A request to stop the work."""

    is_stopped: bool


class Follower(Generic[Thing, Content]):
    """Brings a database up to date. If it is stopped, what was done is kept."""

    def __init__(
        self, rows: StampedRows[Content], things: Things[Thing, Content], wish: StopWish | None = None
    ) -> None:
        self._rows = rows
        self._things = things
        self._wish = wish

    def look(self) -> Backlog[Thing]:
        """Compare the things with what is known of them, without reading them."""
        backlog = Backlog[Thing]()
        newest = self._rows.newest()  # rows that other processes add meanwhile are higher, and are not taken for gone
        seen = bytearray(newest + 1)
        for batch in self._things.batches():
            known = self._rows.stamps(batch)
            for row, _ in known.values():
                if row <= newest:
                    seen[row] = True
            changed = self._changed(batch, known)
            backlog.total += len(batch)
            backlog.waiting += len(changed)
            if backlog.waiting <= BATCH:
                backlog.ahead += changed
            if self._is_stopped:
                return backlog
        if backlog.waiting > BATCH:
            backlog.ahead, backlog.rest = [], self._things.batches()
        backlog.ahead.reverse()
        backlog.gone = self._rows.unseen(seen)
        backlog.is_done = not backlog.waiting and not backlog.gone
        return backlog

    def go_on(self, backlog: Backlog[Thing]) -> None:
        """Do some of the work, for about a second, in one transaction."""
        until = time.monotonic() + MAX_TRANSACTION_SECONDS
        with transaction(self._rows.database):
            while not self._is_stopped and time.monotonic() < until:
                if backlog.gone:
                    self._drop(backlog.gone.pop())
                elif backlog.ahead or self._look_ahead(backlog):
                    self._take_in(*backlog.ahead.pop())
                    backlog.done += 1
                else:
                    backlog.is_done = True
                    return

    def finish(self, backlog: Backlog[Thing]) -> None:
        """Do all of the work."""
        while not backlog.is_done and not self._is_stopped:
            self.go_on(backlog)

    @property
    def _is_stopped(self) -> bool:
        return self._wish is not None and self._wish.is_stopped

    def _changed(self, batch: Mapping[str, Thing], known: Mapping[str, tuple[int, int]]) -> list[tuple[str, Thing]]:
        stamp_of_thing = self._things.stamp
        unknown = (0, UNTRUSTED)
        return [
            (key, thing)
            for key, thing in batch.items()
            if known.get(key, unknown)[1] != (stamp := stamp_of_thing(thing)) or stamp == UNTRUSTED
        ]

    def _look_ahead(self, backlog: Backlog[Thing]) -> bool:
        """Find the next things that are new or changed; return False at the end."""
        for batch in backlog.rest:
            backlog.ahead = self._changed(batch, self._rows.stamps(batch))[::-1]
            if backlog.ahead:
                return True
        return False

    def _take_in(self, key: str, thing: Thing) -> None:
        if not self._changed({key: thing}, self._rows.stamps([key])):
            return  # another process has done it
        seen = self._things.read(key, thing)
        if seen is None:
            self._rows.drop(key)
        else:
            self._rows.put(key, seen)

    def _drop(self, key: str) -> None:
        if self._things.is_gone(key):
            self._rows.drop(key)


def batched(things: Iterable[Thing], size: int = BATCH) -> Iterator[list[Thing]]:
    """Yield batches, usually of the size at which rows are looked up."""
    waiting = iter(things)
    while batch := list(islice(waiting, size)):
        yield batch
