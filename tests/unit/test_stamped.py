"""The engine that keeps derived databases in step, with notes in a dictionary as a user of it."""

import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing

import pytest

from conversation_mcp.searching.stamped import BATCH, UNTRUSTED, Follower, Seen, StampedRows, batched

Note = tuple[int, str]
"""A stamp and a text."""


class Notes:
    """Notes by name, which counts what is read."""

    def __init__(self) -> None:
        self.now: dict[str, Note] = {}
        self.read_names: list[str] = []
        self.is_stopped = False
        self.stops_after: int | None = None

    def batches(self) -> Iterator[Mapping[str, Note]]:
        for names in batched(list(self.now)):
            yield {name: self.now[name] for name in names}

    def stamp(self, thing: Note) -> int:
        return thing[0]

    def read(self, key: str, thing: Note) -> Seen[str] | None:
        del thing
        self.read_names.append(key)
        self.is_stopped = self.stops_after == len(self.read_names)
        return Seen(*self.now[key]) if key in self.now else None

    def is_gone(self, key: str) -> bool:
        return key not in self.now


class NoteRows(StampedRows[str]):
    """A table of texts."""

    TABLE = "notes"
    ROW = "number"
    KEY = "name"

    def put(self, key: str, seen: Seen[str]) -> None:
        put = "INSERT INTO notes (name, stamp, text) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
        self.database.execute(put + "stamp = excluded.stamp, text = excluded.text", (key, seen.stamp, seen.content))

    def drop(self, key: str) -> None:
        self.database.execute("DELETE FROM notes WHERE name = ?", (key,))

    def texts(self) -> dict[str, str]:
        return dict(self.database.execute("SELECT name, text FROM notes"))


@pytest.fixture
def rows() -> Generator[NoteRows]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.execute("CREATE TABLE notes (number INTEGER PRIMARY KEY, name TEXT UNIQUE, stamp INTEGER, text TEXT)")
        yield NoteRows(database)


def caught_up(rows: NoteRows, notes: Notes) -> list[str]:
    """Bring the rows up to the notes and return what was read for that."""
    notes.read_names = []
    notes.is_stopped = False
    follower = Follower(rows, notes, notes)
    follower.finish(follower.look())
    return notes.read_names


def test_what_is_new_or_changed_is_read_and_what_is_gone_is_dropped(rows: NoteRows) -> None:
    notes = Notes()
    notes.now = {"a": (1, "tea"), "b": (2, "coffee"), "c": (3, "milk")}
    assert caught_up(rows, notes) == ["a", "b", "c"]
    notes.now = {"a": (1, "tea"), "b": (4, "cocoa"), "d": (5, "juice")}

    assert caught_up(rows, notes) == ["b", "d"]
    assert rows.texts() == {"a": "tea", "b": "cocoa", "d": "juice"}
    assert caught_up(rows, notes) == []


def test_a_stamp_that_cannot_be_trusted_has_its_thing_read_each_time(rows: NoteRows) -> None:
    notes = Notes()
    notes.now = {"a": (UNTRUSTED, "tea")}

    assert caught_up(rows, notes) == caught_up(rows, notes) == ["a"]


@pytest.mark.parametrize("count", [BATCH, BATCH + 1, 3 * BATCH])
def test_many_are_taken_in_once_each_in_their_order(rows: NoteRows, count: int) -> None:
    notes = Notes()
    notes.now = {f"{number:05}": (number + 1, "tea") for number in range(count)}

    assert caught_up(rows, notes) == sorted(notes.now)
    assert len(rows.texts()) == count


def test_what_was_done_stays_done_when_somebody_wishes_it_to_stop(rows: NoteRows) -> None:
    notes = Notes()
    notes.now = {"a": (1, "tea"), "b": (2, "coffee"), "c": (3, "milk")}
    notes.stops_after = 2
    assert caught_up(rows, notes) == ["a", "b"]

    assert caught_up(rows, notes) == ["c"]


def test_what_is_gone_between_look_and_reading_is_dropped_and_what_is_back_is_kept(rows: NoteRows) -> None:
    notes = Notes()
    notes.now = {"a": (1, "tea"), "b": (2, "coffee")}
    caught_up(rows, notes)
    back = notes.now.pop("a")
    notes.now["b"] = (3, "cocoa")
    follower = Follower(rows, notes)
    backlog = follower.look()
    assert (backlog.total, backlog.waiting, backlog.gone) == (1, 1, ["a"])
    del notes.now["b"]
    notes.now["a"] = back
    follower.finish(backlog)

    assert rows.texts() == {"a": "tea"}


def test_what_another_process_has_taken_in_meanwhile_is_not_read_again(rows: NoteRows) -> None:
    notes = Notes()
    notes.now = {"a": (1, "tea"), "b": (2, "coffee")}
    follower = Follower(rows, notes)
    backlog = follower.look()
    rows.put("a", Seen(1, "tea"))
    follower.finish(backlog)

    assert notes.read_names == ["b"]
