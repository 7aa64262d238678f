"""The ranking of messages: the formula of SQLite's full-text index (bm25) over the rows of words.

A query is phrases of words, which are looked for in the lines of words. As in SQLite, the rank counts how often each
phrase occurs, and in how few rows.
"""

import re
from typing import Any, NamedTuple

from conversation_mcp.searching.cutting import cut
from conversation_mcp.searching.words import Expression

K1, B = 1.2, 0.75
LEAST_WEIGHT = 1e-6
BEGINNING = '" *'
SPECIAL = re.compile(r"[^\w\s]")
CONTAINED = "position(%s IN w.line) > 0"
TIMES = """(octet_length(doubled) - octet_length(replace(doubled, %s, ''))) / octet_length(%s)"""
"""In lines with two spaces between words, so that each word has its own; regular expressions take far longer."""
WEIGHT = f"greatest(ln((all_rows - rows_{{place}} + 0.5::float8) / (rows_{{place}} + 0.5::float8)), {LEAST_WEIGHT})"
SATURATED = f"times_{{place}} * {K1 + 1} / (times_{{place}} + {K1} * ({1 - B} + {B} * word_count / average))"
SCORE = f"{WEIGHT} * {SATURATED}"
RANKED = """
    standing AS (
        SELECT count(*) AS all_rows, coalesce(nullif(avg(w.word_count::float8), 0), 1) AS average, {counts}
        FROM words w WHERE w.owner = %s
    ),
    fitting AS MATERIALIZED (
        SELECT w.slot, w.number, w.word_count::float8, {frequencies}
        FROM words w, replace(w.line, ' ', '  ') AS doubled WHERE w.owner = %s AND ({matches})
    ),
    hits AS (SELECT slot, number, -({score}) AS score FROM fitting, standing)
"""


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
    def frequency(self) -> Condition:
        """Return how often a row has the phrase."""
        if self._may_overlap:
            pattern = f"(?={SPECIAL.sub(_escaped, self.text)})"
            return Condition("regexp_count(w.line, %s)", (pattern,))
        text = self.text.replace(" ", "  ")[1 : None if self.is_open else -1]
        return Condition(TIMES, (text, text))

    @property
    def _may_overlap(self) -> bool:
        """Whether the end of the phrase may be the beginning of the next one."""
        ends = (self.words[-size:] for size in range(1, len(self.words)))
        return any(self.words[: len(end) - self.is_open] == end[: len(end) - self.is_open] for end in ends)


def ranking(owner: str, asked: Expression) -> Condition | None:
    """Return the tables with `slot`, `number` and `score` of the owner's rows that fit a query; None if none can.

    A smaller score is a better one. One pass counts the rows that have each phrase, another finds those that fit.
    """
    required, terms = _phrases(asked.required), _phrases(asked.terms)
    if not (required or terms):
        return None
    phrases = [*required, *terms]
    counts = [f"count(*) FILTER (WHERE {CONTAINED}) AS rows_{place}" for place in range(len(phrases))]
    frequencies = [phrase.frequency for phrase in phrases]
    # As in the expression that SQLite is given, the first required phrase stands beside the terms again.
    places = [*range(len(phrases)), *([0] if required and terms else [])]
    matches = (" AND " if required else " OR ").join([CONTAINED] * len(required or terms))
    sql = RANKED.format(
        counts=", ".join(counts),
        frequencies=", ".join(f"({each.sql})::float8 AS times_{place}" for place, each in enumerate(frequencies)),
        matches=matches,
        score=" + ".join(SCORE.format(place=place) for place in places),
    )
    texts, looked_for = [phrase.text for phrase in phrases], [phrase.text for phrase in required or terms]
    return Condition(
        sql, (*texts, owner, *(value for each in frequencies for value in each.values), owner, *looked_for)
    )


def _phrases(expressions: tuple[str, ...]) -> list[Phrase]:
    """Cut the expressions of full-text search as the index cuts texts; those without a word fit nothing."""
    are_open = [text.endswith(BEGINNING) for text in expressions]
    texts = [text.removesuffix(" *")[1:-1].replace('""', '"') for text in expressions]
    return [Phrase(tuple(words), is_open) for words, is_open in zip(cut(texts), are_open, strict=True) if words]


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found.group()}" if found.group().isascii() else found.group()
