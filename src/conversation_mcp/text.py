"""Text functions for all packages: making text storable, shortening it, folding it for search."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, cast

_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
    "\u00a6\u00a9\u00ae\u00b0\u2300-\u2bff\U0001f000-\U0001faff"  # symbols stand for themselves: ✅done
)
UNSPACED_SCRIPTS = f"[{_UNSPACED}]"  # compiled on first use: start-up would pay 4 ms
SCRIPT_RUNS = f"[{_UNSPACED}]+|[^{_UNSPACED}]+"
INVISIBLE = re.compile("[\u00ad\ufe00-\ufe0f]")  # soft hyphens and variation selectors
HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
PARTS = re.compile(r"[A-Z]+[0-9]*(?![a-z])|[A-Z]?[a-z]+[0-9]*|[0-9]+")
WORD_CATEGORIES = ("L", "N", "Mn", "Mc", "So", "Co")
PUNCTUATION = "*_~?!.,;:…()[]{}<>\"'`“”\u2018\u2019«»¿¡"
CJK_START = "\u2e80"
REDACTED = "[redacted]"
_PREFIX = "pplx|sk|pk|rk|xai|gsk|hf|r8|tvly|cmcp|ghp|github_pat|glpat"
KEY = (
    rf"(?<![A-Za-z0-9])(?:(?:{_PREFIX})[-_](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{{12,}}"
    r"|AIza[A-Za-z0-9_-]{20,})"
)
MAYBE_KEY = (
    rf"(?<![A-Za-z0-9])(?:(?:{_PREFIX})[-_][A-Za-z0-9_-]{{8,}}|[0-9a-f]{{32,}}"
    r"|(?=[A-Za-z]*[0-9])(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[A-Za-z0-9]{24,}"
    r"|(?<!/)(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[0-9]*[A-Za-z]+[0-9]+[A-Za-z])[A-Za-z0-9]{16,}"
    r"|eyJ[A-Za-z0-9_-]{12,}(?:\.[A-Za-z0-9_-]+)*))(?![A-Za-z0-9])"
)
SMALL_USD = 0.001
FTS_TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc So'"


def storable(text: str) -> str:
    """Return the text with split surrogate pairs joined and lone halves replaced by U+FFFD."""
    # JSON may hold half a surrogate pair, as \ud83d, which cannot be written as UTF-8.
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def storable_data(value: object) -> Any:  # noqa: ANN401 -- JSON of whatever shape
    """Return the data with every text in it storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_data(name): storable_data(item) for name, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [storable_data(item) for item in cast("list[Any]", value)]
    return value


def one_line(text: str) -> str:
    """Return the text with single spaces in place of line ends and other gaps."""
    return " ".join(text.split())


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, if one is similar enough."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), 1)), None)


def without_keys(text: str) -> str:
    """Return the text with everything replaced that is certainly a key."""
    return re.sub(KEY, REDACTED, text)


def presentable(value: str) -> str:
    """Return the value of a setting with everything replaced that may be a key put there by mistake."""
    return re.sub(MAYBE_KEY, REDACTED, without_keys(value))


def shorten(text: str, limit: int) -> str:
    """Return the text on one line, cut at a word and marked with `…` if it is longer than `limit` characters."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[limit // 2 :] else cut).rstrip() + "…"


def cut(text: str, max_chars: int) -> str:
    """Return the text up to the last paragraph, line or word that fits into `max_chars`."""
    if len(text) <= max_chars:
        return text
    head = text[:max_chars]
    for mark in ("\n\n", "\n", " "):
        if (place := head.rfind(mark)) > max_chars // 2:
            return head[:place]
    return head


def fold(text: str) -> str:
    """Return the text in the form for comparisons: NFKC, without case, straight apostrophes, nothing invisible."""
    if text.isascii():
        return text.replace("\0", " ").lower()
    visible = INVISIBLE.sub("", storable(text).replace("\0", " ").replace("\u2019", "'"))
    return unicodedata.normalize("NFKC", visible).casefold()


def index_text(text: str) -> str:
    """Return the text in the form for the index: folded, with each character of an unspaced script as a word."""
    folded = fold(text)
    return folded if folded.isascii() else re.sub(UNSPACED_SCRIPTS, _apart, folded)


def _apart(found: re.Match[str]) -> str:
    return f" {found[0]} "  # three times as fast as a template before Python 3.12


def match_query(query: str, stopwords: frozenset[str] = frozenset()) -> str:
    """Return an FTS5 expression of quoted terms joined by OR; empty if the query has no terms."""
    words = fold(query).split()
    # A query of stopwords alone ("who are you") still has to find something.
    kept = [word for word in words if word.strip(PUNCTUATION) not in stopwords] or words
    terms = dict.fromkeys(term for word in kept for term in query_terms(word))
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


def query_terms(word: str) -> Iterator[str]:
    """Yield the search terms of a folded word: its runs by script, those of unspaced scripts as phrases."""
    for run in re.findall(SCRIPT_RUNS, word):
        if re.match(UNSPACED_SCRIPTS, run):
            for part in "".join(char if is_searchable(char) else " " for char in run).split():
                yield from _neighbours(part)
        elif is_searchable(run):
            yield run


def _neighbours(run: str) -> Iterator[str]:
    """Yield a short run as one phrase, and a run that may be several unseparated words as pairs of characters."""
    is_cjk = run[0] >= CJK_START
    if len(run) <= (4 if is_cjk else 12):
        yield " ".join(run)
    if len(run) > (2 if is_cjk else 12):
        yield from (f"{one} {two}" for one, two in pairwise(run))


def is_searchable(text: str) -> bool:
    """Tell whether the text contains any character that words are made of."""
    return any(unicodedata.category(char).startswith(WORD_CATEGORIES) for char in text)


def name_parts(word: str) -> str:
    """Return the words of a camelCase name, such as `get user name`; empty for any other word."""
    return " ".join(PARTS.findall(word)).lower() if HUMP.search(word) else ""


def listed(names: Iterable[str], conjunction: str = "and") -> str:
    """Return the names as an enumeration: `a, b and c`; empty without names."""
    *before, last = tuple(names) or ("",)
    return f"{', '.join(before)} {conjunction} {last}" if before else last


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural unless it is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def dollars(cost_usd: float | None) -> str:
    """Return the amount with as many digits as it needs, at least cents; empty if it is unknown."""
    if cost_usd is None:
        return ""
    digits = f"{cost_usd:.6f}" if abs(cost_usd) < SMALL_USD else f"{cost_usd:.4f}"
    whole, _, fraction = digits.partition(".")
    return f"${whole}.{fraction.rstrip('0').ljust(2, '0')}"
