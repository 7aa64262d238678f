"""What a search by meaning finds, wherever the vectors are kept."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

QUESTIONS = 16
"""How many pieces of a group are compared with those of others."""


class Near(NamedTuple):
    """A piece whose vector is near the question's; `similarity` is the cosine between the two."""

    group: str
    item: str
    digest: bytes
    similarity: float


class Kinship(NamedTuple):
    """How similar a group of pieces is to another one, and how many standard deviations nearer than usual."""

    similarity: float
    nearness: float


def _none(_digests: Collection[bytes]) -> Mapping[bytes, float]:
    return {}


class Neighbourhood(NamedTuple):
    """The nearest pieces, nearest first, and what the similarity of any piece is."""

    found: tuple[Near, ...] = ()
    usual: float = 0.0
    """The mean similarity of all pieces."""
    spread: float = 1.0
    """The standard deviation of their similarities."""
    pieces: int = 0
    """How many pieces there are."""
    similar: Callable[[Collection[bytes]], Mapping[bytes, float]] = _none
    """Returns the similarities of pieces by digest, wherever they are; without those that it does not know."""

    def nearness(self, similarity: float) -> float:
        """Return how many standard deviations a piece of this similarity is nearer than usual."""
        return (similarity - self.usual) / (self.spread or 1)

    @property
    def chance(self) -> float:
        """How many standard deviations the nearest of so many pieces is nearer than usual by chance alone."""
        return math.sqrt(2 * math.log(max(2, self.pieces)))


def kinships(group: str, arounds: Sequence[Neighbourhood]) -> dict[str, Kinship]:
    """Return how near other groups are to one: the mean over what is around its pieces of the nearest of theirs."""
    sums: dict[str, list[Kinship]] = {}
    for around in arounds:
        for name, near in {near.group: near for near in reversed(around.found)}.items():
            sums.setdefault(name, []).append(Kinship(near.similarity, around.nearness(near.similarity)))
    sums.pop(group, None)
    usual = sum(around.usual for around in arounds) / (len(arounds) or 1)
    return {name: _mean(found, len(arounds), usual) for name, found in sums.items()}


def _mean(found: list[Kinship], questions: int, usual: float) -> Kinship:
    """Return the mean; to a question to which nothing of the group is near, it is as similar as anything."""
    similarity = sum(each.similarity for each in found) + usual * (questions - len(found))
    return Kinship(similarity / questions, sum(each.nearness for each in found) / questions)
