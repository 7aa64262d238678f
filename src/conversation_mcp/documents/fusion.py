"""Words and meaning put in one order: the fewer words of the question are found, the more its meaning counts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from conversation_mcp.documents.passages import Passage
from conversation_mcp.documents.ranking import FoundBy, Ranked
from conversation_mcp.searching.blending import PINNED, PINNED_COVERAGE, blended, weight_of_meaning

STEADY = 10
"""How slowly a place in one order loses weight against places in others."""


def fused(
    words: Sequence[Ranked], near: Mapping[int, float], passages: Mapping[int, Passage], spoken: Mapping[int, float]
) -> tuple[Ranked, ...]:
    """Return the passages that words or meaning found, best first.

    Args:
        words: the passages that words found, best first.
        near: how many standard deviations each passage that meaning found is nearer than usual, by row.
        passages: the passages of these rows.
        spoken: the same of the passages that words found: one that is just not among the nearest has a meaning, too.
    """
    by_row = {ranked.row: ranked for ranked in words}
    weight = weight_of_meaning(words[0].coverage if words else 0.0)
    best_score = words[0].score if words else 1.0
    best_near = max(max(near.values(), default=0.0), 1e-9)
    found: list[Ranked] = []
    for row in dict.fromkeys((*by_row, *near)):
        own, meant = by_row.get(row), near.get(row, spoken.get(row, 0.0))
        one = own or Ranked(row, passages[row], 0.0, frozenset(), 0.0)
        score = blended(weight, one.score / best_score, meant / best_near)
        by: FoundBy = "words" if row not in near else "both" if own else "meaning"
        found.append(replace(one, score=score, by=by))
    pinned = {ranked.row for ranked in words[:PINNED] if ranked.coverage >= PINNED_COVERAGE}
    order = {ranked.row: place for place, ranked in enumerate(words)}
    found.sort(key=lambda one: (one.row not in pinned, order[one.row] if one.row in pinned else -one.score, one.row))
    return tuple(found)


def merged(rankings: Sequence[Sequence[Ranked]]) -> tuple[Ranked, ...]:
    """Return the passages of several orders in one, by their places in each: what many of them have comes first."""
    scores: dict[int, float] = {}
    best: dict[int, Ranked] = {}
    for ranking in rankings:
        for place, ranked in enumerate(ranking):
            scores[ranked.row] = scores.get(ranked.row, 0.0) + 1 / (STEADY + place)
            known = best.setdefault(ranked.row, ranked)
            by = known.by if known.by == ranked.by else "both"
            coverage = max(known.coverage, ranked.coverage)
            best[ranked.row] = replace(known, words=known.words | ranked.words, coverage=coverage, by=by)
    order = sorted(best, key=lambda row: (-scores[row], row))
    return tuple(replace(best[row], score=scores[row]) for row in order)
