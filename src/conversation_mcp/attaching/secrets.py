"""Secrets, by the names of files and by what is in them; the rules are in secret_rules.toml."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from math import log2
from typing import Any, Literal

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.name_patterns import NamePatterns

MAX_LINE_CHARS = 4_000
"""How far around a word a line is looked at; the files of programs may be one line."""
KEY_CHARS = 6_000
MIN_BITS = 3.2
"""The bits of chance for each character that words and names do not have."""
MIN_DISTINCT = 5
PLACEHOLDER = re.compile(
    r"(?i)your|change.?me|change.?it|example|sample|placeholder|dummy|fake|mock|redacted|secret.?here|not.?a|x{4,}|"
    r"\*{3,}|\.{3}|todo|fixme|12345|abcde|qwerty|0000|foo|bar\b|test|p[a@]ssw(?:o|0)?r?d|^secret|^token|lorem|none|null"
)
VARIABLE = re.compile(r"\$[{(\w]|[{}<>\\|]|%[({s]|&\w+;")
NAME = re.compile(
    r"[a-z_]+(?:[._/-][a-z_]+)*|[A-Z_]+(?:[._/-][A-Z_]+)*|\.{0,2}/.*|.*(?:://|\w\().*|[a-z0-9_.-]+(?:/[a-z0-9_.-]+)+/?|"
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|(?:[A-Z]*[a-z]{2,}|[A-Z]{2,}|[A-Z]?\d{1,5})+"
)
"""A path, an expression, or a name that is made of words."""
EXAMPLE_HOST = re.compile(
    r"(?i)(?:.*\.)?example(?:\.\w+)?|host(?:name)?|server|localhost|127\.0\.0\.1|\[?::1\]?|proxy|domain.*"
)


@dataclass(frozen=True)
class _Rule:
    what: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    value: Literal["token", "password", "drawn"]
    is_long: bool


class SecretRules:
    """Tells secrets from other files."""

    def __init__(self, formats: Formats) -> None:
        facts: dict[str, Any] = tomllib.loads(
            files("conversation_mcp.attaching").joinpath("secret_rules.toml").read_text("utf-8")
        )
        self._formats = formats
        self._names = [(NamePatterns(one["names"]), one["what"]) for one in facts["names"]]
        self._any_name = NamePatterns(name for one in facts["names"] for name in one["names"])
        self._harmless = NamePatterns(facts["harmless"]["names"])
        self._folders = [(f"/{path}/", one["what"]) for one in facts["folders"] for path in one["paths"]]
        self._contents = [
            _Rule(
                one["what"],
                tuple(one["words"]),
                re.compile(one["pattern"], re.MULTILINE),
                one.get("value", "token"),
                "PRIVATE KEY" in one["pattern"],
            )
            for one in facts["contents"]
        ]

    def by_name(self, path: str) -> str | None:
        """Return what a file is whose path says that it is secret; None for all others."""
        posix = path.replace("\\", "/").lower()
        name = posix.rpartition("/")[2]
        if "/." in posix and (what := next((what for part, what in self._folders if part in posix + "/"), None)):
            return None if self._harmless.match(name) and name.endswith(".pub") else what
        if self._any_name.match(name):
            found = next(what for names, what in self._names if names.match(name))
        else:
            found = self._formats.secret(name)
        return None if found is None or self._harmless.match(name) else found

    def by_content(self, text: str) -> str | None:
        """Return what secret a text holds; None if it seems to hold none."""
        lower = text.lower()
        if len(lower) != len(text):  # a few letters have longer small forms, and places would differ
            lower = text
        return next((rule.what for rule in self._contents if _holds(rule, text, lower)), None)


def _holds(rule: _Rule, text: str, lower: str) -> bool:
    return any(
        _is_secret(found, rule)
        for start, end in _lines_with(rule, lower)
        for found in rule.pattern.finditer(text, start, end)
    )


def _lines_with(rule: _Rule, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the lines that contain a word of the rule, of very long ones the part around it, each once."""
    for word in rule.words:
        place, seen = lower.find(word), 0
        while place >= 0:
            start = max(lower.rfind("\n", max(0, place - MAX_LINE_CHARS), place) + 1, place - MAX_LINE_CHARS, seen)
            end = lower.find("\n", place, place + MAX_LINE_CHARS)
            end = min(place + MAX_LINE_CHARS, len(lower)) if end < 0 else end
            yield start, min(place + KEY_CHARS, len(lower)) if rule.is_long else end
            seen = end
            place = lower.find(word, end)


def _is_secret(found: re.Match[str], rule: _Rule) -> bool:
    groups = found.groupdict()
    value = groups.get("value")
    if value is None:
        return True
    if PLACEHOLDER.search(value) or len(set(value)) < MIN_DISTINCT:
        return False
    if VARIABLE.search(value) and rule.value != "token":
        return False
    if place := groups.get("place"):
        return not EXAMPLE_HOST.fullmatch(place)
    if rule.value == "token":
        return True
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return is_mixed and not NAME.fullmatch(value) and (rule.value == "password" or _bits(value) >= MIN_BITS)


def _bits(value: str) -> float:
    """Return how much chance there is in each character of a value, by how often each occurs in it."""
    total = len(value)
    return -sum(count / total * log2(count / total) for count in Counter(value).values())
