"""The search for the nearest vectors: candidates by the signs of their numbers, then by the numbers themselves."""

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from conversation_mcp.searching.stamped import batched
from conversation_mcp.searching.vectors.near import QUESTIONS, Kinship, Near, Neighbourhood, kinships
from conversation_mcp.searching.vectors.numbers import WORD_BITS, Floats, codes_of, distances, unit, unpacked
from conversation_mcp.searching.vectors.rows import group_rows, marked

if TYPE_CHECKING:
    import sqlite3

CANDIDATES = 500
"""How many are looked at closely; among them are 99 % of the ten nearest."""
SAMPLE = 256
CODES = "SELECT id, grp, code FROM codes WHERE model = ? AND id > ? ORDER BY id"
VECTORS = "SELECT id, scale, numbers FROM vectors WHERE id IN (MARKS)"
BY_DIGEST = """
    SELECT c.digest, v.scale, v.numbers FROM codes c JOIN vectors v ON v.id = c.id
    WHERE c.model = ? AND c.digest IN (MARKS)
"""
NAMES = """
    SELECT c.id, g.name, c.item, c.digest FROM codes c JOIN groups g ON g.id = c.grp WHERE c.id IN (MARKS)
"""
STATE = """
    SELECT (SELECT token FROM file), deletions, (SELECT coalesce(max(id), 0) FROM codes)
    FROM models WHERE id = ?
"""


@dataclass(frozen=True)
class Codes:
    """The codes of a model, in memory: a column for each piece, in the order of their rows."""

    token: str
    deletions: int
    newest: int
    rows: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint64]
    sample: Floats
    """Some of the vectors, from which it is known what is usual."""


class CodeTable:
    """Keeps the codes of one model in memory, in step with the file. To be used by one thread at a time."""

    def __init__(self) -> None:
        self._model = 0
        self._codes: Codes | None = None

    def codes(self, database: "sqlite3.Connection", model: int) -> Codes | None:
        """Return the codes as they are in the file; None if there are none. New ones are read alone."""
        token, deletions, newest = database.execute(STATE, (model,)).fetchone() or ("", 0, 0)
        old = self._codes if self._model == model else None
        if old and (old.token, old.deletions) != (token, deletions):
            old = None
        if old is None or old.newest < newest:
            added = database.execute(CODES, (model, old.newest if old else 0)).fetchall()
            old = _joined(database, old, added, token, deletions, newest)
        self._model, self._codes = model, old
        return old


def _joined(
    database: "sqlite3.Connection",
    old: Codes | None,
    added: list[tuple[int, int, bytes]],
    token: str,
    deletions: int,
    newest: int,
) -> Codes | None:
    if not added:
        return old and replace(old, newest=newest)
    rows = np.array([row for row, _, _ in added], np.int64)
    groups = np.array([group for _, group, _ in added], np.int64)
    raw = np.frombuffer(b"".join(code for _, _, code in added), np.uint64)
    words = np.ascontiguousarray(raw.reshape(len(added), -1).T)
    if old:
        rows, groups = np.concatenate([old.rows, rows]), np.concatenate([old.groups, groups])
        words = np.hstack([old.words, words])
    sample = old.sample if old and len(old.sample) == SAMPLE else _sample(database, rows)
    if -(-sample.shape[1] // WORD_BITS) != len(words):
        raise ValueError(sample.shape)
    return Codes(token, deletions, newest, rows, groups, words, sample)


def _sample(database: "sqlite3.Connection", rows: npt.NDArray[np.int64]) -> Floats:
    some = rows[np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows))).astype(np.int64)]
    return unpacked(list(_vectors(database, some.tolist()).values()))


def nearest(
    database: "sqlite3.Connection", model: int, codes: Codes, query: Floats, limit: int, within: Collection[str] | None
) -> Neighbourhood:
    """Return the nearest pieces, of all groups or of those named."""
    code = codes_of(query[None])[0]
    if len(code) != len(codes.words):  # a server that has changed its model
        return Neighbourhood()
    apart = distances(codes.words, code)
    places = np.arange(len(apart))
    if within is not None:
        places = np.flatnonzero(np.isin(codes.groups, group_rows(database, model, within)))
    if not len(places):
        return Neighbourhood()
    if codes.sample.shape[1] != len(query):
        return Neighbourhood()
    similar = codes.sample @ query
    usual, spread = float(similar.mean()), float(similar.std())
    count = max(CANDIDATES, limit)
    if len(places) > count:
        places = places[np.argpartition(apart[places], count)[:count]]
    vectors = _vectors(database, codes.rows[places].tolist())
    rows = np.array(list(vectors), np.int64)
    kept = unpacked(list(vectors.values()))
    exact = kept @ query
    order = np.argsort(-exact, kind="stable")[:limit]
    names = _named(database, rows[order].tolist())
    found = [
        Near(*names[row], similarity)
        for row, similarity in zip(rows[order].tolist(), exact[order].tolist(), strict=True)
        if row in names
    ]
    return Neighbourhood(tuple(found), usual, spread, len(apart))


def similarities(
    database: "sqlite3.Connection", model: int, query: Floats, digests: Collection[bytes]
) -> dict[bytes, float]:
    """Return how similar the pieces with these digests are to the question, without those that have no vector."""
    similar: dict[bytes, float] = {}
    for batch in batched(digests):
        found = database.execute(marked(BY_DIGEST, batch), (model, *batch)).fetchall()
        vectors = unpacked([(scale, numbers) for _, scale, numbers in found]) if found else np.empty((0, 0), np.float32)
        if vectors.shape[1] == len(query):  # else a server has changed its model
            similar |= zip((digest for digest, _, _ in found), (vectors @ query).tolist(), strict=True)
    return similar


def kin(database: "sqlite3.Connection", model: int, codes: Codes, group: str, limit: int) -> dict[str, Kinship]:
    """Return how near other groups are to one: the mean over its pieces, or some of them, of the nearest of theirs."""
    rows = codes.rows[np.isin(codes.groups, group_rows(database, model, [group]))]
    if not len(rows):
        return {}
    some = rows[np.linspace(0, len(rows) - 1, min(QUESTIONS, len(rows))).astype(np.int64)]
    questions = unit(unpacked(list(_vectors(database, some.tolist()).values())))
    return kinships(group, [nearest(database, model, codes, question, limit, None) for question in questions])


def _vectors(database: "sqlite3.Connection", rows: list[int]) -> dict[int, tuple[float, bytes]]:
    vectors: dict[int, tuple[float, bytes]] = {}
    for batch in batched(sorted(rows)):
        found = database.execute(marked(VECTORS, batch), batch)
        vectors |= {row: (scale, numbers) for row, scale, numbers in found}
    return vectors


def _named(database: "sqlite3.Connection", rows: list[int]) -> dict[int, tuple[str, str, bytes]]:
    named: dict[int, tuple[str, str, bytes]] = {}
    for batch in batched(rows):
        found = database.execute(marked(NAMES, batch), batch)
        named |= {row: (os.fsdecode(name), item, digest) for row, name, item, digest in found}
    return named
