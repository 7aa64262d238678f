"""The ranking of messages: the formula of SQLite's full-text index (bm25) over the rows of words.

A query is phrases of words, which are looked for in the lines of words. As in SQLite, the rank counts how often each
phrase occurs, and in how few rows.
"""

import re
from math import log
from typing import Any, NamedTuple

from conversation_mcp.searching.cutting import cut
from conversation_mcp.searching.words import Expression
from conversation_mcp.stores.postgresql.connections import Connection, Database

K1, B = 1.2, 0.75
LEAST_WEIGHT = 1e-6
BEGINNING = '" *'
SPECIAL = re.compile(r"[^\w\s]")
STATISTICS = "SELECT count(*), coalesce(sum(word_count), 0) FROM words WHERE owner = %s"


class Condition(NamedTuple):
    """A piece of SQL, and its values."""

    sql: str
    values: tuple[Any, ...]


class Phrase(NamedTuple):
    """Words that follow each other; the last one may be a beginning."""

    words: tuple[str, ...]
    is_open: bool

    @property
    def text(self) -> str:
        """The phrase as it stands in a line."""
        return f" {' '.join(self.words)}{'' if self.is_open else ' '}"

    @property
    def condition(self) -> Condition:
        """Return what holds for a row with the phrase."""
        return Condition("position(%s IN w.line) > 0", (self.text,))

    @property
    def frequency(self) -> Condition:
        """Return how often a row has the phrase."""
        return Condition("regexp_count(w.line, %s)", (f"(?={SPECIAL.sub(_escaped, self.text)})",))


class RankedMatch(NamedTuple):
    """What holds for the rows that fit a query, and how well they do: a smaller score is a better one."""

    matches: Condition
    score: Condition


def ranking(connection: Connection, database: Database, asked: Expression) -> RankedMatch | None:
    """Return the ranking of a query; None if no row can fit."""
    required, terms = _phrases(asked.required), _phrases(asked.terms)
    found = connection.execute(STATISTICS, (database.owner,)).fetchone()
    if found is None or not found[0] or not (required or terms):
        return None
    ranked = [*required, *required[:1], *terms] if required and terms else [*required, *terms]
    conditions = [phrase.condition for phrase in required or terms]
    operator = " AND " if required else " OR "
    matches = Condition(
        f"({operator.join(each.sql for each in conditions)})",
        tuple(value for each in conditions for value in each.values),
    )
    return RankedMatch(matches, _score(connection, database, ranked, int(found[0]), float(found[1])))


def _score(connection: Connection, database: Database, phrases: list[Phrase], rows: int, words: float) -> Condition:
    parts: list[str] = []
    values: list[Any] = []
    average = words / rows or 1.0
    for phrase in phrases:
        count = phrase.frequency
        weight = _weight(rows, _rows_with(connection, database, phrase))
        parts.append(
            f"%s::float8 * {count.sql} * {K1 + 1} / ({count.sql} + {K1} * ({1 - B} + {B} * w.word_count / %s))"
        )
        values += [weight, *count.values, *count.values, average]
    return Condition(f"-({' + '.join(parts)})", tuple(values))


def _weight(rows: int, rows_with: int) -> float:
    return max(log((rows - rows_with + 0.5) / (rows_with + 0.5)), LEAST_WEIGHT)


def _rows_with(connection: Connection, database: Database, phrase: Phrase) -> int:
    sql, values = phrase.condition
    found = connection.execute(
        f"SELECT count(*) FROM words w WHERE w.owner = %s AND {sql}".encode(), (database.owner, *values)
    ).fetchone()
    return found[0] if found else 0


def _phrases(expressions: tuple[str, ...]) -> list[Phrase]:
    """Cut the expressions of full-text search as the index cuts texts; those without a word fit nothing."""
    are_open = [text.endswith(BEGINNING) for text in expressions]
    texts = [text.removesuffix(" *")[1:-1].replace('""', '"') for text in expressions]
    return [Phrase(tuple(words), is_open) for words, is_open in zip(cut(texts), are_open, strict=True) if words]


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found.group()}" if found.group().isascii() else found.group()
