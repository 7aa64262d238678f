"""The patterns of keys, cards and addresses in texts; they are data, in patterns.toml."""

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from conversation_mcp.redacting.forms import LENGTH_OF, Form
from conversation_mcp.redacting.kinds import SensitiveKind

MAX_LINE_CHARS = 4_000
"""How far around a word a line is looked at; the files of programs may be one line."""
KEY_CHARS = 6_000


@dataclass(frozen=True)
class Pattern:
    """One thing that is recognized."""

    kind: SensitiveKind
    what: str
    words: tuple[str, ...]
    """One of these stands in whatever matches, in small letters; none if it has no such words."""
    expression: re.Pattern[str]
    form: Form
    is_wide: bool

    def found_in(self, text: str, lower: str) -> Iterator[tuple[int, int]]:
        """Yield where it stands, in no order and perhaps twice; `lower` is the text as `lowered` returns it."""
        for start, end in self._places(lower):
            for found in self.expression.finditer(text, start, end):
                group = "value" if "value" in self.expression.groupindex else 0
                if length := LENGTH_OF[self.form](found, found[group]):
                    yield found.start(group), found.start(group) + length

    def _places(self, lower: str) -> Iterator[tuple[int, int]]:
        if not self.words:
            return iter(((0, len(lower)),))
        if self.is_wide:  # these are cheap, and what they find may be longer than a line
            return iter(((0, len(lower)),) if any(word in lower for word in self.words) else ())
        return _lines_with(self.words, lower, KEY_CHARS if "PRIVATE KEY" in self.expression.pattern else 0)


def lowered(text: str) -> str:
    """Return the text in small letters, or as it is if places would differ: a few letters have longer small forms."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def load_patterns(kinds: Collection[str]) -> tuple[Pattern, ...]:
    """Return the patterns of these kinds in the order in which they are applied; reads a file."""
    facts: dict[str, Any] = tomllib.loads(
        files("conversation_mcp.redacting").joinpath("patterns.toml").read_text("utf-8")
    )
    return tuple(
        Pattern(
            one["kind"],
            one["what"],
            tuple(one["words"]),
            re.compile(one["pattern"], re.MULTILINE),
            one.get("form", "token"),
            one.get("wide", False),
        )
        for one in facts["patterns"]
        if one["kind"] in kinds
    )


def _lines_with(words: tuple[str, ...], lower: str, reach_chars: int) -> Iterator[tuple[int, int]]:
    """Yield the lines that contain a word of them, of very long ones the part around it, each once."""
    for word in words:
        place, seen = lower.find(word), 0
        while place >= 0:
            start = max(lower.rfind("\n", max(0, place - MAX_LINE_CHARS), place) + 1, place - MAX_LINE_CHARS, seen)
            end = lower.find("\n", place, place + MAX_LINE_CHARS)
            end = min(place + MAX_LINE_CHARS, len(lower)) if end < 0 else end
            yield start, min(place + reach_chars, len(lower)) if reach_chars else end
            seen = end
            place = lower.find(word, end)
