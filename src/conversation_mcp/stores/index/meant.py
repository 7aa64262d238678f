"""Words and meaning put in one order of conversations."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from conversation_mcp.records.found import FoundBy, Listed
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.near import Neighbourhood

K = TypeVar("K", int, str)

WEIGHT = 0.4
"""How much meaning counts; words count the rest. As measured on conversations."""
ALONE = 10
"""The most conversations that are found by meaning alone."""
UNUSUAL, SIMILAR = 1.0, 0.25
"""How much nearer than usual, in standard deviations, and how similar at least what meaning alone finds must be."""
BY_MEANING = "found by meaning alone, with none of the words: {}"


class MeantTurn(NamedTuple):
    """The turn of a conversation that is nearest to the query, by the number of its first message."""

    number: int
    nearness: float
    similarity: float


class Fused(NamedTuple, Generic[K]):
    """The conversations that words or meaning found."""

    hits: list[tuple[K, int, float]]
    """Key, message number and score; the smallest score is the best."""
    alone: frozenset[str]
    """The ids of those that meaning alone found."""
    near: frozenset[str]
    """The ids of those that meaning found, whether or not words did."""

    def told(self, found: Iterable[Listed]) -> tuple[list[Listed], list[str]]:
        """Return conversations with what found each, and what a reader must know of it."""
        listed = [facts._replace(found_by=self._by(facts.conversation_id)) for facts in found]
        by_meaning = sum(facts.conversation_id in self.alone for facts in listed)
        return listed, [BY_MEANING.format(counted(by_meaning, "conversation"))] if by_meaning else []

    def _by(self, conversation_id: str) -> FoundBy:
        if conversation_id in self.alone:
            return "meaning"
        return "both" if conversation_id in self.near else "words"


def fuse(
    spoken: Iterable[tuple[K, int, float]],
    around: "Neighbourhood",
    named: Callable[[Collection[str]], Mapping[K, str]],
) -> Fused[K]:
    """Add to what words found, as rows of key, message number and rank, what is near in meaning.

    `named` returns the conversations with these ids by their keys.
    """
    turns = _turns(around)
    names = named(turns)
    meant = {key: turns[conversation_id] for key, conversation_id in names.items()}
    words = {key: (number, rank) for key, number, rank in spoken}
    alone = [key for key, turn in meant.items() if key not in words and _is_certain(turn)]
    alone = sorted(alone, key=lambda key: -meant[key].nearness)[:ALONE]
    best_rank = min((rank for _, rank in words.values()), default=-1.0) or -1.0
    best_near = max((turn.nearness for turn in meant.values()), default=0.0) or 1.0
    hits: list[tuple[K, int, float]] = []
    for key in (*words, *alone):
        number, rank = words.get(key, (0, 0.0))
        by_words = (1 - WEIGHT) * rank / best_rank
        turn = meant.get(key)
        by_meaning = WEIGHT * max(0.0, turn.nearness) / best_near if turn else 0.0
        hits.append((key, turn.number if turn and by_meaning > by_words else number, -(by_words + by_meaning)))
    near = frozenset(names[key] for key, turn in meant.items() if _is_certain(turn))
    return Fused(hits, frozenset(names[key] for key in alone), near)


def _is_certain(turn: MeantTurn) -> bool:
    return turn.nearness >= UNUSUAL and turn.similarity >= SIMILAR


def _turns(around: "Neighbourhood") -> dict[str, MeantTurn]:
    turns: dict[str, MeantTurn] = {}
    for near in around.found:  # nearest first
        number = int(near.item.partition(".")[0])
        turns.setdefault(near.group, MeantTurn(number, around.nearness(near.similarity), near.similarity))
    return turns
