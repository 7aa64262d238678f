"""Memories that words or meaning found in one order, and what each has in common with the question."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from conversation_mcp.conversations.memory_meaning import NearText
from conversation_mcp.records.found import FoundBy, FoundMemory
from conversation_mcp.records.memory_facts import searched_text
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.searching.blending import PINNED, PINNED_COVERAGE, blended, weight_of_meaning
from conversation_mcp.searching.likeness import coverage, likeness, words_of

SIMILAR = 0.3
"""The least cosine of what meaning alone finds: there may be too few others to know what is usual."""
ALIKE, MEANS_ALIKE = 0.6, 0.8
"""The least likeness of the words, and the least cosine, of texts that say nearly the same."""
LEAST_SHARE = ALIKE / (2 - ALIKE)
"""The least share of the words of a text that another one has if the two are alike, however short the other one is."""


class RankedMemory(NamedTuple):
    """A memory, and how much it has in common with what was asked."""

    found: FoundMemory
    similarity: float
    """From 0 to 1: the share of the question's words that it has, or the cosine of the meanings if that is more."""
    by: FoundBy = "words"
    """What found it."""


def ranked(
    query: str, spoken: Sequence[FoundMemory], meant: Sequence[FoundMemory], near: Mapping[str, NearText]
) -> list[RankedMemory]:
    """Return the memories best first: those that words found, in their order, and those that are near in meaning."""
    asked = words_of(query)
    texts = {each.memory.memory_id: each for each in (*spoken, *meant)}
    covered = {key: coverage(asked, words_of(searched_text(each.memory))) for key, each in texts.items()}
    nearness = {key: near.get(same_text(each.memory.content)) for key, each in texts.items()}
    best_words = max((each.score for each in spoken), default=0.0) or 1.0
    best_near = max((each.nearness for each in nearness.values() if each), default=0.0) or 1.0
    first = spoken[0].memory.memory_id if spoken else ""
    weight = weight_of_meaning(covered.get(first, 0.0)) if near else 0.0
    scores: dict[str, float] = {}
    made: list[RankedMemory] = []
    own = {each.memory.memory_id: each.score / best_words for each in spoken}
    for key, each in texts.items():
        meaning = nearness[key]
        if key not in own and (meaning is None or meaning.similarity < SIMILAR):
            continue
        scores[key] = blended(weight, own.get(key, 0.0), meaning.nearness / best_near if meaning else 0.0)
        is_meant = meaning is not None and meaning.similarity >= SIMILAR
        by: FoundBy = "meaning" if key not in own else "both" if is_meant else "words"
        made.append(RankedMemory(each, round(max(covered[key], meaning.similarity if meaning else 0.0), 3), by))
    top = [each.memory.memory_id for each in spoken[:PINNED] if covered[each.memory.memory_id] >= PINNED_COVERAGE]
    order = {key: -len(top) + place for place, key in enumerate(top)}
    return sorted(made, key=lambda each: (order.get(_key(each), 0), -scores[_key(each)]))


def alike(content: str, others: Sequence[FoundMemory], near: Mapping[str, NearText]) -> list[RankedMemory]:
    """Return those that say nearly the same as a text, by their words or by their meaning, most alike first."""
    own = words_of(content)
    made: list[RankedMemory] = []
    for each in others:
        words = likeness(own, words_of(each.memory.content))
        meaning = near.get(same_text(each.memory.content))
        cosine = meaning.similarity if meaning else 0.0
        if words >= ALIKE or cosine >= MEANS_ALIKE:
            by: FoundBy = "meaning" if words < ALIKE else "both" if cosine >= MEANS_ALIKE else "words"
            made.append(RankedMemory(each, round(max(words, cosine), 3), by))
    return sorted(made, key=lambda each: -each.similarity)


def _key(ranked_memory: RankedMemory) -> str:
    return ranked_memory.found.memory.memory_id
