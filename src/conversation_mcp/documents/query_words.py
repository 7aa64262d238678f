"""The terms by which full-text search finds the words of a question: themselves, their parts, and related words."""

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from itertools import pairwise

from conversation_mcp.documents.question import Words
from conversation_mcp.searching.stemming import root
from conversation_mcp.searching.words import any_of, quoted
from conversation_mcp.text import PUNCTUATION, is_searchable, name_parts, query_terms

MIN_PIECE_CHARS = 3
PIECES = re.compile(r"[^\W_]+")


class RelatedWords:
    """Groups of words for the same thing, which are looked up by any form of one of them."""

    def __init__(self, groups: Iterable[str]) -> None:
        self._by_stem: dict[str, list[str]] = {}
        for group in groups:
            words = group.split()
            for word in words:
                known = self._by_stem.setdefault(root(word), [])
                known += [other for other in words if other != word and other not in known]

    def of(self, word: str) -> list[str]:
        """Return the other words of the word's groups."""
        return self._by_stem.get(root(word), [])


def load_related_words() -> RelatedWords:
    """Read the groups that are shipped with the program."""
    text = files("conversation_mcp.documents").joinpath("related.txt").read_text("utf-8")
    return RelatedWords(line for line in text.splitlines() if not line.startswith("#"))


def load_stopwords() -> frozenset[str]:
    """Read the English words that do not tell what a question is about."""
    return frozenset(files("conversation_mcp.documents").joinpath("stopwords_en.txt").read_text("utf-8").split())


def terms_of(word: str) -> list[str]:
    """Return the terms of a folded word, each of which finds it."""
    return [quoted(term) for term in query_terms(word)]


def other_terms(words: Words, related: RelatedWords) -> dict[str, list[str]]:
    """Return other terms for each word: parts of names, two words written as one, and words for the same thing."""
    others: dict[str, list[str]] = {}
    for word, typed in words.items():
        terms = [*_pieces(word, typed), *related.of(word)]
        if found := [quoted(term) for term in dict.fromkeys(terms) if term not in words]:
            others[word] = found
    for one, two in pairwise(words):
        if (one + two).isalpha() and (one + two).isascii():
            others.setdefault(one, []).append(quoted(one + two))
    return others


def _pieces(word: str, typed: str) -> Iterator[str]:
    """Yield the words in a name."""
    for name in PIECES.findall(typed.strip(PUNCTUATION)):
        if parts := name_parts(name):
            yield parts
            yield from (part for part in parts.split() if len(part) >= MIN_PIECE_CHARS)
    pieces = PIECES.findall(word)
    if len(pieces) > 1:
        yield from (piece for piece in pieces if len(piece) >= MIN_PIECE_CHARS and is_searchable(piece))


def by_word(words: Words) -> Mapping[str, str]:
    """Return the expression that finds each word."""
    return {word: any_of(terms) for word in words if (terms := terms_of(word))}
