"""Keeps the index in step with the documents: what changed is read again, what is gone is dropped."""

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from conversation_mcp.providers.local.documents import Document, stamp_of
from conversation_mcp.providers.local.formats import Formats
from conversation_mcp.providers.local.reading import read
from conversation_mcp.providers.local.rows import BATCH, Rows
from conversation_mcp.providers.local.skipping import Reason

if TYPE_CHECKING:
    import sqlite3

UNTRUSTED = 0
"""The stamp of a file that must be read again the next time."""
SETTLED_AFTER = timedelta(seconds=2)
"""A file that was written later than this before it was read may have changed again within one tick of its clock."""
MAX_TRANSACTION_SECONDS = 1.0
MAX_CHANGED = 20_000


@dataclass
class Work:
    """What a look at the documents found to be done, and how much of that is done."""

    total: int = 0
    waiting: int = 0
    """How many are new or changed; not all of them may be in `changed`, so that memory stays flat."""
    changed: list[Document] = field(default_factory=list[Document])
    gone: list[int] = field(default_factory=list[int])
    done: int = 0

    @property
    def is_done(self) -> bool:
        """Whether nothing of it is left."""
        return self.done == len(self.changed) and not self.gone

    @property
    def is_all(self) -> bool:
        """Whether another look would find nothing more to be done."""
        return self.waiting == len(self.changed)


class Taker:
    """Takes files into an index."""

    def __init__(self, database: "sqlite3.Connection", formats: Formats, now: Callable[[], datetime]) -> None:
        self._database = database
        self._rows = Rows(database)
        self._formats = formats
        self._now = now

    def look(self, documents: Iterable[Document]) -> Work:
        """Compare the documents with the index, without reading them."""
        work = Work()
        newest = self._database.execute("SELECT coalesce(max(id), 0) FROM files").fetchone()[0]
        seen: set[int] = set()
        for batch in _batches(documents):
            known = self._rows.stamps([document.path for document in batch])
            for document in batch:
                row, stamp = known.get(document.path, (0, UNTRUSTED))
                seen.add(row)
                if stamp != document.stamp:
                    work.waiting += 1
                    if len(work.changed) < MAX_CHANGED:
                        work.changed.append(document)
            work.total += len(batch)
        rows = self._database.execute("SELECT id FROM files WHERE id <= ?", (newest,))
        work.gone = [row for (row,) in rows if row not in seen]
        return work

    def go_on(self, work: Work) -> None:
        """Do some of the work, for about a second, as one step."""
        until = time.monotonic() + MAX_TRANSACTION_SECONDS
        with self._transaction():
            while work.gone and time.monotonic() < until:
                self._rows.drop(work.gone.pop())
            while work.done < len(work.changed) and time.monotonic() < until:
                self._take_in(work.changed[work.done])
                work.done += 1

    def are_current(self, paths: Sequence[str]) -> bool:
        """Tell whether the files are still as they were when they were read."""
        known = self._rows.stamps(paths)
        return all(_is_current(known.get(path), stamp_of(path)) for path in paths)

    def _take_in(self, document: Document) -> None:
        known = self._rows.known(document.path)
        if known is not None and known.stamp == document.stamp:
            return  # another process has done it
        content = read(document, self._formats)
        stamp = UNTRUSTED if document.changed_ns / 1e9 > (self._now() - SETTLED_AFTER).timestamp() else document.stamp
        if content is None:
            if known is not None:
                self._rows.drop(known.id)
        elif isinstance(content, Reason):
            self._rows.put(document, stamp, None, content)
        elif known is not None and known.digest == content.digest:
            self._rows.restamp(known, document, stamp)
        else:
            self._rows.put(document, stamp, content.digest, content.passages())

    @contextmanager
    def _transaction(self) -> Generator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.rollback()
            raise
        self._database.commit()


def _is_current(known: tuple[int, int] | None, stamp: int | None) -> bool:
    return known is not None and stamp is not None and known[1] in {UNTRUSTED, stamp}


def problems(database: "sqlite3.Connection") -> Iterator[tuple[Reason, str]]:
    """Yield the files that were read in vain, with the reason."""
    for path, problem in database.execute("SELECT path, problem FROM files WHERE problem IS NOT NULL ORDER BY path"):
        yield Reason(problem), os.fsdecode(path)


def _batches(documents: Iterable[Document]) -> Iterator[Sequence[Document]]:
    waiting = iter(documents)
    while batch := list(islice(waiting, BATCH)):
        yield batch
