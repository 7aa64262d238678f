"""Recognition of Western European text whose encoding nothing declares."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from math import log
from typing import Any

CODEC = "cp1252"
SAMPLE_CHARS = 65_536
MAX_WORDS = 2_000
SPECIAL = re.compile(r"[^\x00-\x7f]")
LETTER = r"[^\W\d_ªº]"
WORD = re.compile(rf"{LETTER}+")
TOKEN = re.compile(r"[^\s\d()\[\]/.,;:-]+")
MISPLACED = re.compile(
    rf"(?<={LETTER})[^\w\x00-\x7f\u2019·\xa0\xad](?={LETTER})|(?<={LETTER})[²³¹¼½¾ªº±¶](?={LETTER})"
    rf"|(?<={LETTER})[±¶¼¡¿‡\u201a\u201e](?!{LETTER})|(?<!\S)[±¶](?={LETTER})"
    rf"|(?<=[a-zß-öø-ÿ])[À-ÖØ-Þ]|(?<=[A-Z])[À-ÖØ-Þ](?=[a-zß-öø-ÿ])|[ìù](?={LETTER})|ñ(?![aeiouáéíóúü])"
)
"""Signs inside words or on the wrong side of them, capitals among small letters, letters where no word has them."""
UNIT = re.compile(r"\b[cdkm]?m[²³]")
# Logarithms, as the likelihoods of the letters are added up.
UNEXPECTED_SHARE, KNOWN_WORD, ENOUGH = log(0.0003), log(4), log(3)
MIN_KNOWN_WORDS, MIN_KNOWN_SHARE = 3, 0.15


@dataclass(frozen=True)
class _Language:
    """The letters and words of a language, as they look when its encoding is read as the Western one."""

    codec: str
    prior: float
    shares: dict[str, float]
    words: frozenset[str]

    def likelihood(self, letters: Counter[str], words: frozenset[str]) -> float:
        found = sum(count * self.shares.get(letter, UNEXPECTED_SHARE) for letter, count in letters.items())
        return self.prior + found + KNOWN_WORD * len(self.words & words)


def western(data: bytes) -> str | None:
    """Return the text; None if it may well be in another encoding."""
    try:
        text = data.decode(CODEC)
    except UnicodeDecodeError:
        return None
    known, languages = _facts()
    if not set(SPECIAL.findall(text)) <= known or not _is_spelled_sensibly(text):
        return None
    sample = UNIT.sub("m", text[:SAMPLE_CHARS])
    words = [word.lower() for word in WORD.findall(sample)]
    distinct = frozenset(words)
    letters = Counter(_special_letters(sample, languages))
    ours = [language for language in languages if language.codec == CODEC]
    # An encoding in which all these letters are the same bytes makes no difference.
    others = [language for language in languages if any(_differs(letter, language.codec) for letter in letters)]
    best = max(language.likelihood(letters, distinct) for language in ours)
    if all(best - language.likelihood(letters, distinct) >= ENOUGH for language in others):
        return text
    return text if any(_is_full_of(language.words, words) for language in ours) else None


def is_mostly_western(text: str) -> bool:
    """Tell whether most words with special letters also have plain ones, which is so in no other script."""
    words = [word for word in WORD.findall(text[:SAMPLE_CHARS]) if not word.isascii() and len(word) > 1]
    return 2 * sum(any(map(str.isascii, word)) for word in words) >= len(words)


def _is_spelled_sensibly(text: str) -> bool:
    """Tell whether words with special letters also have plain ones, and signs are where they belong."""
    if MISPLACED.search(text):
        return False
    words = [word for word in WORD.findall(text) if not word.isascii()]
    has_plain = bool(re.search("[A-Za-z0-9]", text))
    return has_plain and all(any(map(str.isascii, word)) or len(word) == 1 for word in words)


def _special_letters(sample: str, languages: Iterable[_Language]) -> Iterable[str]:
    """Yield the letters outside ASCII of each distinct word, if they are letters in any of the languages."""
    known = frozenset[str]().union(*(language.shares for language in languages))
    found = {token.lower() for token in TOKEN.findall(sample) if not token.isascii() and WORD.search(token)}
    for token in islice(sorted(found), MAX_WORDS):
        yield from (char for char in token if char in known)


@cache
def _differs(letter: str, codec: str) -> bool:
    return letter.encode(CODEC).decode(codec, "replace") != letter


def _is_full_of(known: frozenset[str], words: list[str]) -> bool:
    found = [word for word in words if word in known]
    return len(set(found)) >= MIN_KNOWN_WORDS and len(found) >= MIN_KNOWN_SHARE * len(words)


@cache
def _facts() -> tuple[frozenset[str], tuple[_Language, ...]]:
    """Return the signs and letters of Western text, and the languages."""
    data: dict[str, Any] = tomllib.loads(
        files("conversation_mcp.documents").joinpath("western.toml").read_text("utf-8")
    )
    languages = tuple(_language(one, codec) for one in data["languages"] for codec in one.get("codecs", [CODEC]))
    letters = (letter for language in languages if language.codec == CODEC for letter in language.shares)
    return frozenset(data["signs"]).union(*((letter, letter.upper()) for letter in letters)), languages


def _language(facts: dict[str, Any], codec: str) -> _Language:
    """Read a language, whose letters are listed with their frequency per thousand."""
    numbers = {part[0]: float(part[1:]) for part in facts["letters"].split()}
    total = sum(numbers.values())
    seen = {form: log(number / total) for letter, number in numbers.items() for form in (letter, letter.upper())}
    shares = {looks: share for form, share in seen.items() if not (looks := _looks(form, codec)).isascii()}
    words = frozenset(_looks(word, codec) for word in facts["words"].split())
    return _Language(codec, log(facts.get("prior", 1.0)), shares, words)


def _looks(text: str, codec: str) -> str:
    """Return how text of another encoding looks when it is read as Western; empty if it cannot."""
    try:
        return text.encode(codec).decode(CODEC).lower()
    except UnicodeError:
        return ""
