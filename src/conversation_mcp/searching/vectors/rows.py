"""The rows of the vectors of one model. Whoever writes holds the transaction."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from conversation_mcp.searching.stamped import batched
from conversation_mcp.searching.vectors.base import Model
from conversation_mcp.searching.vectors.pieces import PackedVector, TextSource

if TYPE_CHECKING:
    import sqlite3


DROP_MODEL = (
    "DELETE FROM vectors WHERE id IN (SELECT id FROM codes WHERE model = ?)",
    "DELETE FROM codes WHERE model = ?",
    "DELETE FROM groups WHERE model = ?",
    "DELETE FROM models WHERE id = ?",
)
DROP_PIECES = ("DELETE FROM codes WHERE id = ?", "DELETE FROM vectors WHERE id = ?")
GROUPS = "SELECT id FROM groups WHERE model = ? AND name IN (MARKS)"


class KnownPiece(NamedTuple):
    """A piece whose vector is known."""

    row: int
    digest: bytes


def models(database: "sqlite3.Connection") -> list[Model]:
    """Return the models, the newest first."""
    found = database.execute("SELECT id, name, choice, is_whole FROM models ORDER BY id DESC")
    return [Model(row, name, choice, bool(is_whole)) for row, name, choice, is_whole in found]


class VectorRows:
    """The groups of a model, and the pieces in them; satisfies ModelVectors."""

    def __init__(self, database: "sqlite3.Connection", model: int) -> None:
        self._database = database
        self._model = model

    @classmethod
    def of(cls, database: "sqlite3.Connection", name: str, choice: str) -> "VectorRows":
        """Return the rows of a model, which is added if it is not known."""
        database.execute("INSERT OR IGNORE INTO models (name, choice) VALUES (?, ?)", (name, choice))
        return cls(database, database.execute("SELECT id FROM models WHERE name = ?", (name,)).fetchone()[0])

    def states(self) -> dict[str, str | None]:
        """Return the states of all groups by their names; None for those that are not complete."""
        found = self._database.execute("SELECT name, state FROM groups WHERE model = ?", (self._model,))
        return {os.fsdecode(name): state for name, state in found}

    def digests(self, group: str) -> dict[str, bytes]:
        """Return the digests of the pieces of a group by their items."""
        return {item: piece.digest for item, piece in self._known(group).items()}

    def state_now(self, source: TextSource, group: str) -> str | None:
        """Ask the source: nobody else can write until the transaction ends."""
        return source.state(group)

    def twins(self, digests: Iterable[bytes]) -> "dict[bytes, PackedVector]":
        """Return the vectors of pieces with these digests, wherever they are."""
        found: dict[bytes, PackedVector] = {}
        for digest in digests:
            twin = self._database.execute(
                "SELECT c.code, v.scale, v.numbers FROM codes c JOIN vectors v ON v.id = c.id "
                "WHERE c.digest = ? AND c.model = ? LIMIT 1",
                (digest, self._model),
            ).fetchone()
            if twin:
                found[digest] = PackedVector(*twin)
        return found

    def put(self, group: str, made: "Mapping[str, tuple[bytes, PackedVector]]") -> None:
        """Write digests and vectors of items over those that are there."""
        self._database.execute(
            "INSERT OR IGNORE INTO groups (model, name) VALUES (?, ?)", (self._model, os.fsencode(group))
        )
        owner, known = self._group(group), self._known(group)
        self._drop([known[item].row for item in made if item in known])
        for item, (digest, vector) in made.items():
            row = self._database.execute(
                "INSERT INTO codes (model, grp, item, digest, code) VALUES (?, ?, ?, ?, ?)",
                (self._model, owner, item, digest, vector.code),
            ).lastrowid
            self._database.execute("INSERT INTO vectors VALUES (?, ?, ?)", (row, vector.scale, vector.numbers))

    def settle(self, group: str, state: str, items: Collection[str]) -> None:
        """Note that all pieces of a group in this state are known, and drop all others."""
        self._drop([known.row for item, known in self._known(group).items() if item not in items])
        self._database.execute(
            "INSERT INTO groups (model, name, state) VALUES (?, ?, ?) "
            "ON CONFLICT (model, name) DO UPDATE SET state = excluded.state",
            (self._model, os.fsencode(group), state),
        )

    def settle_all(self) -> None:
        """Note that the model knows everything, and forget all others."""
        self._database.execute("UPDATE models SET is_whole = 1 WHERE id = ?", (self._model,))
        for (other,) in self._database.execute("SELECT id FROM models WHERE id <> ?", (self._model,)).fetchall():
            for statement in DROP_MODEL:
                self._database.execute(statement, (other,))

    def drop(self, groups: Iterable[str]) -> None:
        """Remove groups with all that is in them."""
        for group in groups:
            self._drop([known.row for known in self._known(group).values()])
            self._database.execute("DELETE FROM groups WHERE model = ? AND name = ?", (self._model, os.fsencode(group)))

    def trim(self, groups: "Mapping[str, Mapping[str, bytes]]") -> None:
        """Remove what these groups no longer have, which are given with their items and digests."""
        for group, digests in groups.items():
            if not digests:
                self.drop([group])
            self._drop([known.row for item, known in self._known(group).items() if digests.get(item) != known.digest])

    def _known(self, group: str) -> dict[str, KnownPiece]:
        found = self._database.execute("SELECT id, item, digest FROM codes WHERE grp = ?", (self._group(group),))
        return {item: KnownPiece(row, digest) for row, item, digest in found}

    def _drop(self, rows: Sequence[int]) -> None:
        if rows:
            for statement in DROP_PIECES:
                self._database.executemany(statement, ((row,) for row in rows))
            self._database.execute("UPDATE models SET deletions = deletions + 1 WHERE id = ?", (self._model,))

    def _group(self, name: str) -> int | None:
        found = self._database.execute(
            "SELECT id FROM groups WHERE model = ? AND name = ?", (self._model, os.fsencode(name))
        ).fetchone()
        return found[0] if found else None


def group_rows(database: "sqlite3.Connection", model: int, names: Iterable[str]) -> list[int]:
    """Return the rows of groups by their names."""
    rows: list[int] = []
    for batch in batched(names):
        found = database.execute(marked(GROUPS, batch), (model, *map(os.fsencode, batch)))
        rows += [row for (row,) in found]
    return rows


def marked(statement: str, values: Sequence[object]) -> str:
    """Return a statement with a question mark for each value in place of MARKS."""
    return statement.replace("MARKS", ",".join("?" * len(values)))
