"""Limits the cost of ranking: if very many messages match, only the rarer words of a query are searched for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conversation_mcp.searching.likeness import rarest_needed, words_of
from conversation_mcp.searching.words import MAX_TERMS, Expression, any_of, quoted
from conversation_mcp.text import index_text

if TYPE_CHECKING:
    import sqlite3

RANKED_MESSAGES = 4_000
"""Ranking takes some microseconds per message and is nearly the whole cost of a query."""
RARE_MESSAGES = 1_500
COUNTED_TERMS = 24
RANKED_TERMS = 8
COUNT = "SELECT count(*) FROM (SELECT 1 FROM TABLE WHERE TABLE MATCH ? LIMIT ?)"


@dataclass(frozen=True)
class Search:
    """The expression for full-text search, and whether common words or older messages were left out of it."""

    match: str
    is_without_common: bool = False
    is_for_newest: bool = False


def limits_of(search: Search, ranked: str) -> Iterator[str]:
    """Yield the notices about what was left out; `ranked` names what is searched."""
    if search.is_without_common:
        yield "very common words of the query were not searched for; put words that must match in quotes"
    if search.is_for_newest:
        yield f"the words are very common: only the newest {RANKED_MESSAGES:,} {ranked} with them were ranked"


def narrowed(database: "sqlite3.Connection", asked: Expression, table: str = "messages") -> Search:
    """Return the search: if too many messages match, for the rarest words; if all are common, among the newest."""
    if _count(database, table, asked.match, RANKED_MESSAGES) <= RANKED_MESSAGES:
        return Search(asked.match)
    if asked.required:
        return Search(asked.match, is_for_newest=True)
    counts = {term: _count(database, table, term, RARE_MESSAGES) for term in asked.terms[:COUNTED_TERMS]}
    chosen: list[str] = []
    messages = 0
    for term in sorted((term for term, count in counts.items() if 0 < count <= RARE_MESSAGES), key=counts.__getitem__):
        messages += counts[term]
        if messages > RANKED_MESSAGES:
            break
        chosen.append(term)
    if chosen:
        return Search(any_of(chosen), is_without_common=True)
    common = [term for term, count in counts.items() if count]
    return Search(any_of((common or list(asked.terms))[:RANKED_TERMS]), is_for_newest=True)


def rarest(database: "sqlite3.Connection", query: str, share: float, table: str) -> list[str]:
    """Return expressions of as many of the rarest words of a text as find all texts that have that share of them."""
    words = sorted(words_of(query), key=lambda word: (-len(word), word))[:MAX_TERMS]  # the longer a word, the rarer
    terms = [quoted(index_text(word)) for word in words]
    counts = {term: _count(database, table, term, RARE_MESSAGES) for term in terms}
    known = sorted((term for term, count in counts.items() if count), key=counts.__getitem__)
    return known[: max(0, rarest_needed(len(words), share) - (len(words) - len(known)))]


def _count(database: "sqlite3.Connection", table: str, match: str, limit: int) -> int:
    """Return how many rows of the table match, or one more than the limit."""
    return database.execute(COUNT.replace("TABLE", table), (match, limit + 1)).fetchone()[0]
