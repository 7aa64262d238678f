"""Keeps the index in step with the files: what changed is read again, what is gone is dropped."""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from conversation_mcp.searching.database import transaction
from conversation_mcp.stores.files.index.rows import Rows
from conversation_mcp.stores.files.index.stamps import UNTRUSTED, Files
from conversation_mcp.stores.finder import Standing
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    import sqlite3

BATCH = 900
"""Old versions of SQLite take no more than 999 values."""
MAX_TRANSACTION_SECONDS = 1.0
NOTED_EVERY = timedelta(seconds=2)


def standing(database: "sqlite3.Connection") -> Standing:
    """Return what the last comparison found that came to its end."""
    found = database.execute("SELECT conversations, finished FROM comparisons").fetchone()
    return Standing(found[0], datetime.fromisoformat(found[1])) if found else Standing(0, None)


class Taker:
    """Takes files into an index."""

    def __init__(self, database: "sqlite3.Connection", files: Files) -> None:
        self._database = database
        self._files = files
        self._rows = Rows(database)

    def compare(self, headway: Headway, now: datetime) -> None:
        """Bring the index up to the folder, a batch at a time; what was done stays done when the headway stops it.

        The first time, keys are given in the order of ids, and later as conversations are started: by age.
        """
        before, present = standing(self._database), 0
        names = self._files.ids()
        if before.compared_at is None:
            in_order = sorted(names)
            names, headway.total = iter(in_order), len(in_order)
        for ids in batches(names):
            stamps = self._files.stamps(ids)
            known = self._rows.stamps(ids)
            changed = [name for name, stamp in stamps.items() if known.get(name) != stamp or stamp == UNTRUSTED]
            self.take_in(changed, headway)
            present += len(stamps)
            headway.seen += len(ids)
            if headway.is_stopped:
                return
        if self._database.execute("SELECT count(*) FROM conversations").fetchone()[0] > present:
            self._drop_vanished(headway)
        if not headway.is_stopped and _is_news(before, present, now):
            self._note_comparison(present, now)

    def take_in(self, ids: Iterable[str], headway: Headway | None = None) -> None:
        """Read files and replace what is known of them; another process that has done so meanwhile saves the work."""
        waiting = iter(ids)
        headway = headway or Headway()
        while (name := next(waiting, None)) is not None:
            with transaction(self._database):
                until = time.monotonic() + MAX_TRANSACTION_SECONDS
                while name is not None:
                    self._take_in(name)
                    name = None if time.monotonic() > until or headway.is_stopped else next(waiting, None)
            if headway.is_stopped:
                return

    def _take_in(self, name: str) -> None:
        known = self._rows.stamps([name]).get(name, UNTRUSTED)
        if known != UNTRUSTED and self._files.stamps([name]).get(name) == known:
            return
        seen = self._files.read(name)
        if seen is None:
            self._rows.drop(name)
        else:
            self._rows.put(name, seen)

    def _drop_vanished(self, headway: Headway) -> None:
        last = ""
        while names := self._names_after(last):
            present = self._files.stamps(names)
            self.take_in((name for name in names if name not in present), headway)
            last = names[-1]
            if headway.is_stopped:
                return

    def _names_after(self, last: str) -> list[str]:
        rows = self._database.execute("SELECT id FROM conversations WHERE id > ? ORDER BY id LIMIT ?", (last, BATCH))
        return [name for (name,) in rows]

    def _note_comparison(self, present: int, now: datetime) -> None:
        with transaction(self._database):
            self._database.execute("DELETE FROM comparisons")
            self._database.execute("INSERT INTO comparisons VALUES (?, ?)", (present, now.isoformat()))


def _is_news(before: Standing, present: int, now: datetime) -> bool:
    """Tell whether a comparison is worth a write."""
    is_recent = before.compared_at is not None and abs(now - before.compared_at) < NOTED_EVERY
    return not is_recent or present != before.conversation_count


def batches(ids: Iterator[str]) -> Iterator[list[str]]:
    """Yield the ids, so many at once that files and rows are looked up quickly."""
    while batch := list(islice(ids, BATCH)):
        yield sorted(batch)
