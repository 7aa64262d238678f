"""Words and meaning put in one order of conversations."""

import json
from typing import TYPE_CHECKING, NamedTuple

from conversation_mcp.records.found import FoundBy
from conversation_mcp.stores.index.rows import NUMBER_BITS

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.searching.vectors.nearest import Neighbourhood

WEIGHT = 0.4
"""How much meaning counts; words count the rest. As measured on conversations."""
ALONE = 10
"""The most conversations that are found by meaning alone."""
UNUSUAL, SIMILAR = 1.0, 0.25
"""How much nearer than usual, in standard deviations, and how similar at least what meaning alone finds must be."""
SPOKEN = """
    SELECT rowid >> BITS AS key, rowid & ((1 << BITS) - 1) AS number, min(rank) AS score FROM (
        SELECT rowid, rank FROM messages WHERE messages MATCH ? AMONG ORDER BY rowid DESC LIMIT ?
    ) GROUP BY 1
""".replace("BITS", str(NUMBER_BITS))
KEYS = "SELECT key, id FROM conversations WHERE problem IS NULL AND id IN (SELECT value FROM json_each(?))"


class MeantTurn(NamedTuple):
    """The turn of a conversation that is nearest to the query, by the number of its first message."""

    number: int
    nearness: float
    similarity: float


class Fused(NamedTuple):
    """The conversations that words or meaning found."""

    hits: str
    """JSON rows of key, message number and score; the smallest score is the best."""
    alone: frozenset[str]
    """The ids of those that meaning alone found."""
    near: frozenset[str]
    """The ids of those that meaning found, whether or not words did."""

    def by(self, conversation_id: str) -> FoundBy:
        """Return what found a conversation."""
        if conversation_id in self.alone:
            return "meaning"
        return "both" if conversation_id in self.near else "words"


def fuse(database: "sqlite3.Connection", spoken: "list[tuple[int, int, float]]", around: "Neighbourhood") -> Fused:
    """Add to what words found, as rows of key, message number and rank, what is near in meaning."""
    turns = _turns(around)
    named = dict(database.execute(KEYS, (json.dumps(list(turns)),)).fetchall())
    meant = {key: turns[conversation_id] for key, conversation_id in named.items()}
    words = {key: (number, rank) for key, number, rank in spoken}
    alone = [key for key, turn in meant.items() if key not in words and _is_certain(turn)]
    alone = sorted(alone, key=lambda key: -meant[key].nearness)[:ALONE]
    best_rank = min((rank for _, rank in words.values()), default=-1.0) or -1.0
    best_near = max((turn.nearness for turn in meant.values()), default=0.0) or 1.0
    hits: list[tuple[int, int, float]] = []
    for key in (*words, *alone):
        number, rank = words.get(key, (0, 0.0))
        by_words = (1 - WEIGHT) * rank / best_rank
        turn = meant.get(key)
        by_meaning = WEIGHT * max(0.0, turn.nearness) / best_near if turn else 0.0
        hits.append((key, turn.number if turn and by_meaning > by_words else number, -(by_words + by_meaning)))
    near = frozenset(named[key] for key, turn in meant.items() if _is_certain(turn))
    return Fused(json.dumps(hits), frozenset(named[key] for key in alone), near)


def _is_certain(turn: MeantTurn) -> bool:
    return turn.nearness >= UNUSUAL and turn.similarity >= SIMILAR


def _turns(around: "Neighbourhood") -> dict[str, MeantTurn]:
    turns: dict[str, MeantTurn] = {}
    for near in around.found:  # nearest first
        number = int(near.item.partition(".")[0])
        turns.setdefault(near.group, MeantTurn(number, around.nearness(near), near.similarity))
    return turns
