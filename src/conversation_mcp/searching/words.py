"""The words of texts as they are indexed, and the expressions that find them; a query is data, never syntax."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conversation_mcp.searching.stemming import stem
from conversation_mcp.text import (
    FTS_TOKENIZER,
    SCRIPT_RUNS,
    UNSPACED_SCRIPTS,
    fold,
    index_text,
    is_searchable,
    name_parts,
    query_terms,
)

TOKENIZER = FTS_TOKENIZER.removeprefix("porter ")
"""Indexes words as they are written, so that phrases and prefixes match exactly; stems are indexed in addition."""
BOUNDARY = "\ue000"
"""Separates a text from its stems, so that no phrase matches across the two."""
MAX_TERMS = 64
REMEMBERED_WORDS = 20_000
ASCII_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
PHRASE = re.compile('["“”„«»]([^"“”„«»]*)["“”„«»]')
ENDINGS = ".,;:!?)]}'\u2019"
NO_WORDS = "the query has no word to search for"
"""The notice about a query that is not empty and matches nothing."""


@dataclass(frozen=True)
class Expression:
    """A query for full-text search: all required phrases, and any of the terms if there are no phrases."""

    required: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    left_out: int = 0
    """How many terms were left out because there were too many."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a reader of the results must know about the query."""
        return notices_of_left_out(self.left_out)

    @property
    def match(self) -> str:
        """The expression; empty if there is nothing to search for."""
        if self.required and self.terms:  # with phrases, terms only improve the rank: the first phrase always matches
            return f"{' AND '.join(self.required)} AND ({any_of(self.required[:1] + self.terms)})"
        return " AND ".join(self.required) or any_of(self.terms)


class Indexer:
    """Prepares texts for the index, and remembers the variants of words, which recur from text to text."""

    def __init__(self) -> None:
        self._variants: dict[str, tuple[str, ...]] = {}

    def indexed_text(self, text: str) -> str:
        """Return the words of the text, then the parts of its camelCase names and the stems that differ from words."""
        known = self._variants
        if len(known) > REMEMBERED_WORDS:
            known.clear()
        beside: set[str] = set()
        for word in set(ASCII_WORD.findall(text)):
            found = known.get(word)
            if found is None:  # threads may share what is remembered
                found = known[word] = tuple(variants(word))
            beside.update(found)
        return " ".join((index_text(text), BOUNDARY, *sorted(beside))) if beside else index_text(text)


def variants(word: str) -> Iterator[str]:
    """Yield the other texts by which an ASCII word is found: the parts of its name, and its stem."""
    if parts := name_parts(word):
        yield parts
    lower = word.lower()
    if (short := stem(lower)) != lower:
        yield short


def expression(query: str) -> Expression:
    """Return the expression of a query: its quoted phrases are required, its words add to the rank.

    `word*` matches every word that begins with it.
    """
    phrases = [quoted(index_text(phrase)) for phrase in PHRASE.findall(query) if is_searchable(fold(phrase))]
    words = [term for word in PHRASE.sub(" ", query).split() for term in _word_terms(word)]
    required, terms = tuple(dict.fromkeys(phrases)), tuple(dict.fromkeys(words))
    left_out = max(0, len(required) - MAX_TERMS) + max(0, len(terms) - MAX_TERMS)
    return Expression(required[:MAX_TERMS], terms[:MAX_TERMS], left_out)


def notices_of_left_out(count: int) -> tuple[str, ...]:
    """Return what a reader of the results must know if so many words of the query were too many."""
    return (f"the query is long: {count} of its words were not searched for",) if count else ()


def any_of(terms: Iterable[str]) -> str:
    """Return an expression that any one of the terms satisfies."""
    return " OR ".join(dict.fromkeys(terms))


def quoted(term: str) -> str:
    """Return the term in quotes, so that nothing in it is syntax."""
    return '"' + term.replace('"', '""') + '"'


def _word_terms(word: str) -> Iterator[str]:
    bare = word.rstrip(ENDINGS)
    if bare.endswith("*") and not bare.startswith("*"):
        yield from _beginning(fold(bare.rstrip("*")))
        return
    yield from map(quoted, query_terms(fold(word)))
    parts = ASCII_WORD.findall(word)
    is_compound = "-" in word.strip("-")
    for part in parts:
        if is_compound:
            yield quoted(part.lower())
        if is_compound or part == word.strip("*_~?!.,;:…()[]{}<>\"'`\u2018\u2019«»¿¡"):
            yield from map(quoted, variants(part))
        elif camel := name_parts(part):
            yield quoted(camel)


def _beginning(word: str) -> Iterator[str]:
    """Yield the expression of a prefix. A character of an unspaced script is a whole word, so nothing can follow it."""
    runs = re.findall(SCRIPT_RUNS, word)
    if not is_searchable(word):
        return
    is_open = re.match(UNSPACED_SCRIPTS, runs[-1]) is None and is_searchable(runs[-1][-1])
    yield quoted(index_text(word)) + (" *" if is_open else "")
