"""Keeps ranking affordable: words that stand nearly everywhere do not choose conversations, they only order them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conversation_mcp.stores.index.words import Expression, any_of

if TYPE_CHECKING:
    import sqlite3

RANKED_MESSAGES = 6_000
"""Ranking takes some microseconds for each, all else hardly anything."""
RARE_MESSAGES = 2_000
COUNT = "SELECT count(*) FROM (SELECT 1 FROM messages WHERE messages MATCH ? LIMIT ?)"


@dataclass(frozen=True)
class Search:
    """What is asked of full-text search, and whether only the newest messages are ranked for it."""

    match: str
    is_for_newest: bool = False


def narrowed(database: "sqlite3.Connection", asked: Expression) -> Search:
    """Return what to ask: if too many messages match, those with a rare word; if all are common, for the newest."""
    if _count(database, asked.match, RANKED_MESSAGES) <= RANKED_MESSAGES:
        return Search(asked.match)
    counts = {} if asked.required else {term: _count(database, term, RARE_MESSAGES) for term in asked.terms}
    rare = [term for term, count in counts.items() if 0 < count <= RARE_MESSAGES]
    if rare and _count(database, any_of(rare), RANKED_MESSAGES) <= RANKED_MESSAGES:
        return Search(f"({any_of(rare)}) AND ({asked.match})")
    return Search(asked.match, is_for_newest=True)


def _count(database: "sqlite3.Connection", match: str, limit: int) -> int:
    """Return how many messages match, or one more than the limit."""
    return database.execute(COUNT, (match, limit + 1)).fetchone()[0]
