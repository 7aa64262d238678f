"""Ranking of passages: full-text search proposes candidates, and a closer look at these decides."""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from conversation_mcp.documents.passages import Passage
from conversation_mcp.documents.query_words import RelatedWords, by_word, other_terms
from conversation_mcp.documents.question import Words
from conversation_mcp.documents.rows import indexed, passages_of
from conversation_mcp.searching.database import connect
from conversation_mcp.searching.words import any_of
from conversation_mcp.text import FTS_TOKENIZER

if TYPE_CHECKING:
    import sqlite3

FoundBy = Literal["words", "meaning", "both"]

CANDIDATES = 100
TITLE_WEIGHT, HEADING_WEIGHT = 1.0, 1.5
OTHER_WEIGHT = 0.5
COVERAGE_WEIGHT = 3.0
NEARNESS_WEIGHT = 0.6
NEAR_WORDS = 6
CITED_WEIGHT = 0.5
MAX_RANKED = 20_000
"""Ranking takes some microseconds per passage with one of the words; this bounds it to a fraction of a second."""

IN_SCOPE = "AND +rowid IN (SELECT p.id FROM passages p JOIN wanted w ON w.file = p.file)"
"""The `+` makes SQLite look up the words first, rather than each passage of the scope."""
SCORES = """
    SELECT rowid, -bm25(words, TITLE, HEADING, 1.0) AS score FROM words WHERE words MATCH ? SCOPE
    ORDER BY score DESC, rowid LIMIT ?
""".replace("TITLE", str(TITLE_WEIGHT)).replace("HEADING", str(HEADING_WEIGHT))
# Counts no further than necessary: of a very common word, SQLite would go through every passage.
COUNT = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? SCOPE LIMIT ?)"
SHORTLIST = f'CREATE VIRTUAL TABLE shortlist USING fts5(text, tokenize="{FTS_TOKENIZER}")'
SPEAKING = "SELECT rowid FROM shortlist WHERE shortlist MATCH ?"


@dataclass(frozen=True)
class Ranked:
    """A passage with its score and the words of the question that it contains."""

    row: int
    passage: Passage
    score: float
    words: frozenset[str]
    coverage: float
    by: FoundBy = "words"


@dataclass(frozen=True)
class Ranking:
    """Passages, best first, and the words that no passage contains, as typed."""

    found: tuple[Ranked, ...]
    missing: tuple[str, ...]


class Ranker:
    """Ranks the passages of an index; with a scope, only those of the files in the table `wanted`."""

    def __init__(self, database: "sqlite3.Connection", related: RelatedWords, *, is_scoped: bool = False) -> None:
        self._database = database
        self._related = related
        self._scope = IN_SCOPE if is_scoped else ""

    def rank(self, words: Words, context: Words, cited: frozenset[str]) -> Ranking:
        """Return the passages that contain any of the words; context, and passages cited before, count less."""
        asked = by_word(words)
        counts = {word: self._count(match) for word, match in asked.items()}
        present = {word: asked[word] for word, count in counts.items() if count}
        others = {word: any_of(terms) for word, terms in other_terms(words, self._related).items()}
        missing = tuple(words[word] for word, count in counts.items() if not count)
        scores = self._scores(any_of(self._narrowed(present, counts)), CANDIDATES)
        alike = self._scores(any_of(others.values()), CANDIDATES)
        contextual = self._scores(any_of(by_word(context).values()), CANDIDATES)
        passages = passages_of(self._database, list(scores | alike))
        context_weight = 1 / max(1, len(asked))  # `and on Windows?` needs its context more than a long question does
        value = self._values(counts)
        closer = Closer(passages, present, others)
        found: list[Ranked] = []
        for row, passage in passages.items():
            spoken = closer.words_of(row)
            near = closer.words_like(row) - spoken
            own = sum(value[word] for word in spoken)
            coverage = (own + OTHER_WEIGHT * sum(value[word] for word in near)) / sum(value.values())
            score = scores.get(row, 0.0) + OTHER_WEIGHT * alike.get(row, 0.0)
            score += context_weight * contextual.get(row, 0.0)
            score *= (1 + COVERAGE_WEIGHT * coverage) * (1 + NEARNESS_WEIGHT * closer.nearness(row))
            score *= CITED_WEIGHT if passage.location in cited else 1  # the user has read it and asks for more
            found.append(Ranked(row, passage, score, spoken, own / sum(value.values())))
        found.sort(key=lambda ranked: (-ranked.score, ranked.row))
        return Ranking(tuple(found), missing)

    def _values(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return the weight of each word: the fewer passages contain it, the higher."""
        total = self._database.execute("SELECT count(*) FROM passages").fetchone()[0]
        return {word: math.log(1 + total / max(1, count)) for word, count in counts.items()}

    def matching(self, match: str, limit: int) -> list[Passage]:
        """Return the passages that match an expression, best first."""
        passages = passages_of(self._database, rows := list(self._scores(match, limit)))
        return [passages[row] for row in rows]

    def _scores(self, match: str, limit: int) -> dict[int, float]:
        if not match:
            return {}
        return dict(self._database.execute(SCORES.replace("SCOPE", self._scope), (match, limit)).fetchall())

    def _count(self, match: str) -> int:
        return self._database.execute(COUNT.replace("SCOPE", self._scope), (match, MAX_RANKED)).fetchone()[0]

    def _narrowed(self, present: Mapping[str, str], counts: Mapping[str, int]) -> list[str]:
        """Return the expressions that propose candidates: of all words, or of the rarer ones if they are common."""
        chosen: list[str] = []
        total = 0
        for word in sorted(present, key=counts.__getitem__):
            total += counts[word]
            if chosen and total > MAX_RANKED:
                break
            chosen.append(present[word])
        return chosen


class Closer:
    """A closer look at some passages: which words each contains, and how close together these are."""

    def __init__(self, passages: Mapping[int, Passage], asked: Words, others: Words) -> None:
        # Each word is asked of a table with the candidates only, instead of the whole index.
        with closing(connect(":memory:")) as shortlist:
            shortlist.execute(SHORTLIST)
            texts = ((row, indexed(_all_text(passage))) for row, passage in passages.items())
            shortlist.executemany("INSERT INTO shortlist (rowid, text) VALUES (?, ?)", texts)

            def having(match: str) -> set[int]:
                return {row for (row,) in shortlist.execute(SPEAKING, (match,))}

            self._own = {word: having(match) for word, match in asked.items()}
            self._like = {word: having(match) for word, match in others.items()}
            # FTS5's NEAR takes phrases only, so a word with several terms has no neighbours.
            pairs = pairwise(match for match in asked.values() if " OR " not in match)
            self._near = [having(f"NEAR({one} {two}, {NEAR_WORDS})") for one, two in pairs]

    def words_of(self, row: int) -> frozenset[str]:
        """Return the words that a passage contains."""
        return frozenset(word for word, rows in self._own.items() if row in rows)

    def words_like(self, row: int) -> frozenset[str]:
        """Return the words for which a passage contains related ones."""
        return frozenset(word for word, rows in self._like.items() if row in rows)

    def nearness(self, row: int) -> float:
        """Return the share of neighbouring words of the question that are close together in a passage."""
        return sum(row in rows for rows in self._near) / max(1, len(self._near))


def _all_text(passage: Passage) -> str:
    return f"{passage.title} {passage.path.name} {passage.heading}\n{passage.text}"


def chosen(rankings: Sequence[Sequence[Ranked]], limit: int, per_file: int, weakest_share: float) -> list[Ranked]:
    """Return the best of each ranking in turn: few per file, no duplicates, none far weaker than the best.

    A weak passage is still chosen if it contains a word that none before it does.
    """
    picked: list[Ranked] = []
    waiting = [list(reversed(ranking)) for ranking in rankings]
    best = [ranking[0].score if ranking else 0.0 for ranking in rankings]
    spoken: set[str] = set()
    while len(picked) < limit and any(waiting):
        for ranking, top in zip(waiting, best, strict=True):
            while ranking:
                ranked = ranking.pop()
                is_weak = ranked.score < weakest_share * top and ranked.words <= spoken
                if is_weak or _is_too_many(ranked, picked, per_file):
                    continue
                picked.append(ranked)
                spoken |= ranked.words
                break
            if len(picked) == limit:
                break
    return picked


def _is_too_many(ranked: Ranked, picked: Sequence[Ranked], per_file: int) -> bool:
    if sum(other.passage.path == ranked.passage.path for other in picked) == per_file:
        return True
    own = shingles(ranked.passage.text)
    return any(_are_alike(own, shingles(other.passage.text)) for other in picked)


def shingles(text: str) -> set[str]:
    """Return the sequences of three words in a text, by which duplicates are recognized."""
    words = indexed(text).split()
    return {" ".join(words[place : place + 3]) for place in range(max(1, len(words) - 2))}


def _are_alike(one: set[str], two: set[str]) -> bool:
    return len(one & two) * 10 >= 7 * len(one | two)
