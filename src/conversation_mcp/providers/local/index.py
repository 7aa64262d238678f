"""Ranks passages for a question, in an SQLite full-text table that lives in memory for one answer."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from conversation_mcp.providers.local.passages import Passage
from conversation_mcp.providers.local.question import Question, expression
from conversation_mcp.text import FTS_TOKENIZER, fold, index_text

if TYPE_CHECKING:
    import sqlite3

PER_FILE = 3
CANDIDATES = 1_000
CITED_WEIGHT = 0.5
WEAKEST_SHARE = 0.2
NEAREST_HEADINGS = 3
CHECKED_SPELLINGS = 8

CREATE = f"CREATE VIRTUAL TABLE passages USING fts5(title, heading, body, content='', tokenize=\"{FTS_TOKENIZER}\")"
INSERT = "INSERT INTO passages (rowid, title, heading, body) VALUES (?, ?, ?, ?)"
SCORES = """
    SELECT rowid, -bm25(passages, 2.0, 4.0, 1.0) AS score FROM passages WHERE passages MATCH ?
    ORDER BY score DESC, rowid LIMIT ?
"""
MATCHES = "SELECT rowid FROM passages WHERE passages MATCH ?"


@dataclass(frozen=True)
class Findings:
    """The passages that fit a question, best first; the words none speaks of, as typed; headings that come near."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]
    nearest: tuple[Passage, ...] = ()


def find(passages: Sequence[Passage], question: Question, limit: int) -> Findings:
    """Return at most `limit` passages, at most three of a file, of equal ones the first.

    One that fits far less than the best is left out, unless it speaks of a word that no better one has.
    """
    import sqlite3  # noqa: PLC0415 -- start-up would pay for it

    with closing(sqlite3.connect(":memory:")) as database:
        _fill(database, passages)
        scores = _scores(database, question.words)
        context = _scores(database, question.context)
        speaking = {typed: _matches(database, word) for word, typed in question.words.items()}
    missing = tuple(typed for typed, rows in speaking.items() if not rows)
    if not scores:
        near = [passages[row] for row in context]
        return Findings((), missing, tuple(_nearest(passages, near, question.words)))
    own_terms = expression(question.words).count('" OR "') + 1
    context_weight = 1 / own_terms  # `and on Windows?` leans on what was asked before, a whole question hardly
    for row, score in scores.items():
        weight = CITED_WEIGHT if location(passages[row]) in question.cited else 1
        scores[row] = weight * (score + context_weight * context.get(row, 0))
    return Findings(tuple(_best(passages, scores, speaking, limit)), missing)


def location(passage: Passage) -> str:
    """Return where the passage stands, as answers name it: `path:start-end`, or `path:line`."""
    lines = f"{passage.start_line}-{passage.end_line}" if passage.end_line > passage.start_line else passage.start_line
    return f"{passage.path}:{lines}"


def _fill(database: "sqlite3.Connection", passages: Sequence[Passage]) -> None:
    database.execute(CREATE)
    database.executemany(
        INSERT,
        (
            (
                row,
                index_text(f"{passage.title} {passage.path.name}"),
                index_text(passage.heading),
                index_text(passage.text),
            )
            for row, passage in enumerate(passages)
        ),
    )


def _scores(database: "sqlite3.Connection", words: Mapping[str, str]) -> dict[int, float]:
    return dict(database.execute(SCORES, (expression(words), CANDIDATES)).fetchall()) if words else {}


def _matches(database: "sqlite3.Connection", word: str) -> set[int]:
    return {row for (row,) in database.execute(MATCHES, (expression({word: word}),))}


def _best(
    passages: Sequence[Passage], scores: Mapping[int, float], speaking: Mapping[str, set[int]], limit: int
) -> Iterator[Passage]:
    ranked = sorted(scores, key=lambda row: (-scores[row], row))
    enough = WEAKEST_SHARE * scores[ranked[0]]
    unspoken = dict(speaking)
    per_file: Counter[object] = Counter()
    seen: set[str] = set()
    for row in ranked:
        passage = passages[row]
        text = " ".join(fold(passage.text).split())
        new_words = [word for word, rows in unspoken.items() if row in rows]
        if text in seen or per_file[passage.path] == PER_FILE or (scores[row] < enough and not new_words):
            continue
        for word in new_words:
            del unspoken[word]
        seen.add(text)
        per_file[passage.path] += 1
        yield passage
        if len(seen) == limit:
            return


def _nearest(passages: Sequence[Passage], near: Sequence[Passage], words: Mapping[str, str]) -> list[Passage]:
    """Return passages, one of a heading, that suit the context or whose heading is spelled much like a word."""
    spelled: dict[str, Passage] = {}
    for passage in passages:
        for word in fold(passage.heading).split():
            spelled.setdefault(word, passage)
    alike = (match for word in list(words)[:CHECKED_SPELLINGS] for match in get_close_matches(word, spelled, 1, 0.75))
    candidates = [*near, *(spelled[word] for word in alike)]
    by_heading = {(passage.path, passage.heading): passage for passage in reversed(candidates) if passage.heading}
    return list(reversed(by_heading.values()))[:NEAREST_HEADINGS]
