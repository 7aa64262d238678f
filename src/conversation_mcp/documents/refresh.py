"""Keeps the index in step with the documents: what changed is read again, what is gone is dropped."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.reader import read
from conversation_mcp.documents.rows import BATCH, Rows
from conversation_mcp.documents.skips import Reason
from conversation_mcp.documents.walk import Document, stamp_of
from conversation_mcp.searching.database import transaction

if TYPE_CHECKING:
    import sqlite3

UNTRUSTED = 0
"""The stamp of a file that must be read again the next time."""
SETTLED_AFTER = timedelta(seconds=2)
"""A file that was written later than this before it was read may have changed again within one tick of its clock."""
MAX_TRANSACTION_SECONDS = 1.0


@dataclass
class Work:
    """What a look at the documents found to be done, and how much of that is done."""

    total: int
    """How many documents there are."""
    waiting: int
    """How many of them are new or changed."""
    gone: list[int]
    """The ids of files that are documents no more."""
    documents: Iterator[Document]
    """All documents once more: they are walked twice rather than kept in memory."""
    ahead: list[Document] = field(default_factory=list[Document])
    done: int = 0
    is_done: bool = False


class Taker:
    """Takes files into an index."""

    def __init__(self, database: "sqlite3.Connection", formats: Formats, now: Callable[[], datetime]) -> None:
        self._database = database
        self._rows = Rows(database)
        self._formats = formats
        self._now = now

    def look(self, documents: Iterable[Document]) -> Work:
        """Compare the documents with the index, without reading them."""
        newest = self._database.execute("SELECT coalesce(max(id), 0) FROM files").fetchone()[0]
        seen: set[int] = set()
        total = waiting = 0
        for batch in _batches(iter(documents)):
            known = self._rows.stamps([document.path for document in batch])
            seen.update(row for row, _ in known.values())
            waiting += sum(_is_changed(document, known) for document in batch)
            total += len(batch)
        rows = self._database.execute("SELECT id FROM files WHERE id <= ?", (newest,))
        gone = [row for (row,) in rows if row not in seen]
        return Work(total, waiting, gone, iter(documents), is_done=not waiting and not gone)

    def go_on(self, work: Work) -> None:
        """Do some of the work, for about a second, as one step."""
        until = time.monotonic() + MAX_TRANSACTION_SECONDS
        with transaction(self._database):
            while work.gone and time.monotonic() < until:
                self._rows.drop(work.gone.pop())
            while time.monotonic() < until:
                if not work.ahead and not self._look_ahead(work):
                    work.is_done = True
                    return
                self._take_in(work.ahead.pop())
                work.done += 1

    def _look_ahead(self, work: Work) -> bool:
        """Fetch the next documents that are new or changed; return False at the end."""
        for batch in _batches(work.documents) if work.waiting else ():
            known = self._rows.stamps([document.path for document in batch])
            work.ahead = [document for document in reversed(batch) if _is_changed(document, known)]
            if work.ahead:
                return True
        return False

    def are_current(self, paths: Sequence[str]) -> bool:
        """Tell whether the files are still as they were when they were read."""
        if not paths:  # nothing was found: in an index that was lost meanwhile nothing can be
            return self._database.execute("SELECT 1 FROM files LIMIT 1").fetchone() is not None
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


def _is_changed(document: Document, known: Mapping[str, tuple[int, int]]) -> bool:
    return document.path not in known or known[document.path][1] != document.stamp


def _is_current(known: tuple[int, int] | None, stamp: int | None) -> bool:
    return known is not None and stamp is not None and known[1] in {UNTRUSTED, stamp}


def problems(database: "sqlite3.Connection") -> Iterator[tuple[Reason, str]]:
    """Yield the files that were read in vain, with the reason."""
    for path, problem in database.execute("SELECT path, problem FROM files WHERE problem IS NOT NULL ORDER BY path"):
        yield Reason(problem), os.fsdecode(path)


def _batches(documents: Iterator[Document]) -> Iterator[Sequence[Document]]:
    while batch := list(islice(documents, BATCH)):
        yield batch
