"""How alike texts are by their words, from 0 to 1."""

from math import ceil

from conversation_mcp.searching.stemming import stem
from conversation_mcp.text import PUNCTUATION, fold, index_text, is_searchable

ROUNDING = 1e-9


def words_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text."""
    bare = (word.strip(PUNCTUATION) for word in index_text(fold(text)).split())
    return frozenset(stem(word) if word.isascii() else word for word in bare if is_searchable(word))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how many of their words the two have in common."""
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else 0.0


def coverage(asked: frozenset[str], text: frozenset[str]) -> float:
    """Return which share of the words of a question the text has."""
    return len(asked & text) / len(asked) if asked else 0.0


def rarest_needed(words: int, share: float) -> int:
    """Return how many of the rarest of so many words are enough: a text with that share of all has one of these."""
    return max(1, words - ceil(share * words - ROUNDING) + 1)
