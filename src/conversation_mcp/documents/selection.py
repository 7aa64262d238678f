"""The selection of passages that answer a question; if none does, of headings that come near."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from conversation_mcp.documents.fusion import fused, merged
from conversation_mcp.documents.passages import Passage
from conversation_mcp.documents.query_words import by_word, load_stopwords
from conversation_mcp.documents.question import Question, Words
from conversation_mcp.documents.ranking import FoundBy, Ranked, Ranker, chosen
from conversation_mcp.documents.rows import passages_of
from conversation_mcp.documents.vectors import Meant
from conversation_mcp.searching.words import any_of, quoted

if TYPE_CHECKING:
    import sqlite3

PER_FILE = 3
WEAKEST_SHARE = 0.2
ENOUGH_COVERAGE = 0.34
NEAREST_HEADINGS = 3
CHECKED_SPELLINGS = 8
ALIKE = 0.75
WORDS_TO_TRY = 8
MIN_WORD_CHARS = 4
WORD = re.compile(r"[^\W\d_]+")
LIKELY = "SELECT term FROM vocabulary WHERE col = 'heading' AND term >= ? AND term < ? LIMIT 5000"
Phrasings = Sequence[tuple[Question, Meant | None]]


@dataclass(frozen=True)
class Findings:
    """The best passages for a question, the words that none contains, as typed, and headings that come near.

    `is_partial` says that even the best passage covers little of the question.
    """

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]
    nearest: tuple[Passage, ...] = ()
    is_partial: bool = False
    is_out_of_scope: bool = False
    """Whether the filters leave no document."""
    found_by: Mapping[Passage, FoundBy] = field(default_factory=dict[Passage, FoundBy])
    """What found each passage; empty if only words were searched for."""
    to_try: tuple[str, ...] = ()
    """Words of the documents that may be what the question means, if nothing was found."""


class PassageFinder:
    """Finds the passages of an index that answer a question; `meant` is None if meaning was not searched for.

    `phrasings` are the same question in other words, each with what was meant by it.
    """

    def __init__(
        self, database: "sqlite3.Connection", ranker: Ranker, meant: Meant | None = None, phrasings: Phrasings = ()
    ) -> None:
        self._database = database
        self._ranker = ranker
        self._meant = meant
        self._phrasings = phrasings

    def find(self, question: Question, limit: int, *, by_parts: bool) -> Findings:
        """Return at most `limit` passages, at most three per file; `by_parts`, some for each part of the question."""
        whole = self._ranker.rank(question.words, question.context, question.cited)
        found = self._fused(whole.found, self._meant)
        if self._phrasings:
            each = [(self._ranker.rank(one.words, {}, question.cited).found, meant) for one, meant in self._phrasings]
            found = merged([found, *(self._fused(words, meant) for words, meant in each)])
        if not found:
            nearest = tuple(self._nearest(question, self._passages_of(self._meant).values()))
            return Findings((), whole.missing, nearest, to_try=_to_try(question, nearest))
        rankings = [found]
        if by_parts:
            parts = (self._ranker.rank(part, {}, question.cited).found for part in question.parts)
            rankings += [part for part in parts if part]
        picked = chosen(rankings, limit, PER_FILE, WEAKEST_SHARE)
        best = max(ranked.coverage for ranked in picked)
        return Findings(
            tuple(ranked.passage for ranked in picked),
            whole.missing,
            is_partial=best < ENOUGH_COVERAGE,
            found_by={} if self._meant is None else _found_by(picked),
        )

    def _fused(self, words: Sequence[Ranked], meant: Meant | None) -> Sequence[Ranked]:
        if meant is None:
            return words
        near = meant.near if words else meant.certain  # what is nearest of all need not be near
        return fused(words, near, self._passages_of(meant), meant.of(words)) if near else words

    def _passages_of(self, meant: Meant | None) -> dict[int, Passage]:
        return passages_of(self._database, list(meant.near if meant else ()))

    def _nearest(self, question: Question, meant: Iterable[Passage]) -> list[Passage]:
        """Return passages, one per heading, that match the context, have a heading spelled alike, or mean the like."""
        near = self._ranker.matching(any_of(by_word(question.context).values()), NEAREST_HEADINGS)
        if alike := list(self._spelled_alike(question.words)):
            near += self._ranker.matching(any_of(f"heading : {quoted(term)}" for term in alike), NEAREST_HEADINGS)
        near += meant
        # Reversed, so that the best passage of each heading is the one that stays.
        by_heading = {(passage.path, passage.heading): passage for passage in reversed(near) if passage.heading}
        return list(reversed(by_heading.values()))[:NEAREST_HEADINGS]

    def _spelled_alike(self, words: Words) -> Iterator[str]:
        for word in list(words)[:CHECKED_SPELLINGS]:
            first, after = word[0], chr(min(ord(word[0]) + 1, 0x10FFFF))
            if after.isprintable():  # not a surrogate, which cannot be a parameter of SQLite
                terms = [term for (term,) in self._database.execute(LIKELY, (first, after))]
                yield from get_close_matches(word, terms, 1, ALIKE)


def _found_by(picked: Iterable[Ranked]) -> dict[Passage, FoundBy]:
    return {ranked.passage: ranked.by for ranked in picked}


def _to_try(question: Question, nearest: Iterable[Passage]) -> tuple[str, ...]:
    """Return words that tell what the nearest passages are about: those of their headings, then the commonest."""
    headings, texts = Counter[str](), Counter[str]()
    stopwords = load_stopwords()
    for passage in nearest:
        headings.update(word.lower() for word in WORD.findall(passage.heading))
        texts.update(word.lower() for word in WORD.findall(passage.text))
    both = dict.fromkeys([*headings, *(word for word, count in texts.most_common() if count > 1)])
    wanted = (word for word in both if len(word) >= MIN_WORD_CHARS and word not in stopwords)
    return tuple(word for word in wanted if word not in question.words)[:WORDS_TO_TRY]
