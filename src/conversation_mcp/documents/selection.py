"""The selection of passages that answer a question; if none does, of headings that come near."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from conversation_mcp.documents.passages import Passage
from conversation_mcp.documents.query_words import by_word
from conversation_mcp.documents.question import Question, Words
from conversation_mcp.documents.ranking import Ranker, chosen
from conversation_mcp.searching.words import any_of, quoted

if TYPE_CHECKING:
    import sqlite3

PER_FILE = 3
WEAKEST_SHARE = 0.2
ENOUGH_COVERAGE = 0.34
NEAREST_HEADINGS = 3
CHECKED_SPELLINGS = 8
ALIKE = 0.75
LIKELY = "SELECT term FROM vocabulary WHERE col = 'heading' AND term >= ? AND term < ? LIMIT 5000"


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


class PassageFinder:
    """Finds the passages of an index that answer a question."""

    def __init__(self, database: "sqlite3.Connection", ranker: Ranker) -> None:
        self._database = database
        self._ranker = ranker

    def find(self, question: Question, limit: int, *, by_parts: bool) -> Findings:
        """Return at most `limit` passages, at most three per file; `by_parts`, some for each part of the question."""
        whole = self._ranker.rank(question.words, question.context, question.cited)
        if not whole.found:
            return Findings((), whole.missing, tuple(self._nearest(question)))
        rankings = [whole.found]
        if by_parts:
            parts = (self._ranker.rank(part, {}, question.cited).found for part in question.parts)
            rankings += [part for part in parts if part]
        picked = chosen(rankings, limit, PER_FILE, WEAKEST_SHARE)
        best = max(ranked.coverage for ranked in picked)
        return Findings(tuple(ranked.passage for ranked in picked), whole.missing, is_partial=best < ENOUGH_COVERAGE)

    def _nearest(self, question: Question) -> list[Passage]:
        """Return passages, one per heading, that match the context or whose heading is spelled much like a word."""
        near = self._ranker.matching(any_of(by_word(question.context).values()), NEAREST_HEADINGS)
        if alike := list(self._spelled_alike(question.words)):
            near += self._ranker.matching(any_of(f"heading : {quoted(term)}" for term in alike), NEAREST_HEADINGS)
        by_heading = {(passage.path, passage.heading): passage for passage in reversed(near) if passage.heading}
        return list(reversed(by_heading.values()))[:NEAREST_HEADINGS]

    def _spelled_alike(self, words: Words) -> Iterator[str]:
        for word in list(words)[:CHECKED_SPELLINGS]:
            first, after = word[0], chr(min(ord(word[0]) + 1, 0x10FFFF))
            if after.isprintable():  # not a surrogate, which cannot be a parameter of SQLite
                terms = [term for (term,) in self._database.execute(LIKELY, (first, after))]
                yield from get_close_matches(word, terms, 1, ALIKE)
