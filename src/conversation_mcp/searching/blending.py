"""How much the meaning of a text counts beside its words: the fewer words of a question are found, the more."""

MOST, LESS = 0.9, 0.8
"""How much meaning counts if the best text has no word of the question, and how much less if it has all. Measured."""
# Otherwise texts with exactly the words of a question would fall behind others that only mean something similar.
PINNED, PINNED_COVERAGE = 2, 0.9
"""How many of the first texts that words find stay on top if they have nearly all of the words."""


def weight_of_meaning(coverage: float) -> float:
    """Return how much meaning counts, from 0 to 1, if the best text covers so much of the question's words."""
    return MOST - LESS * coverage


def blended(weight: float, spoken: float, meant: float) -> float:
    """Return the score of a text whose words and whose meaning are so near, as shares of the nearest ones."""
    return (1 - weight) * spoken + weight * max(0.0, meant)
