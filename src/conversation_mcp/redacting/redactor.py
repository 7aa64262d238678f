"""Redaction of texts: what a pattern matches is replaced by the name of its kind."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from conversation_mcp.redacting.kinds import SensitiveKind
from conversation_mcp.redacting.patterns import Pattern, load_patterns, lowered
from conversation_mcp.text import listed

NAMES: Mapping[SensitiveKind, tuple[str, str, str]] = {
    "keys": ("key", "key", "keys"),
    "cards": ("card", "card number", "card numbers"),
    "ibans": ("iban", "IBAN", "IBANs"),
    "emails": ("email", "e-mail address", "e-mail addresses"),
    "phones": ("phone", "phone number", "phone numbers"),
}
"""What stands in the place of each kind, between brackets, and what notices call one and several of it."""


class Redacted(NamedTuple):
    """A text without what was replaced, and how often something of each kind was."""

    text: str
    counts: Mapping[SensitiveKind, int]


class Redactor:
    """Replaces what is of the chosen kinds; the patterns are read with the first text. Safe in threads."""

    def __init__(self, kinds: Collection[SensitiveKind]) -> None:
        self._kinds = kinds

    @cached_property
    def _patterns(self) -> tuple[Pattern, ...]:
        return load_patterns(self._kinds)

    def redact(self, text: str) -> Redacted:
        """Return the text with `[key]`, `[card]`, `[iban]`, `[email]` and `[phone]` in place of what is of a kind.

        A text that is redacted again stays as it is. A long text takes time, so that it belongs into a thread.
        """
        counts: Counter[SensitiveKind] = Counter()
        for pattern in self._patterns:
            places = sorted(set(pattern.found_in(text, lowered(text))))
            pieces, end = list[str](), 0
            for start, until in places:
                if start < end:  # a part of the one before
                    continue
                if text[start:until] != (shown := f"[{NAMES[pattern.kind][0]}]"):
                    counts[pattern.kind] += 1
                pieces += [text[end:start], shown]
                end = until
            text = "".join((*pieces, text[end:]))
        return Redacted(text, counts)

    def cleaned(self, text: str) -> str:
        """Return the text alone."""
        return self.redact(text).text


def named_counts(counts: Mapping[SensitiveKind, int]) -> str:
    """Return the counts in words, such as `2 keys and 1 card number`; empty if there is nothing."""
    return listed(f"{count:,} {NAMES[kind][1 if count == 1 else 2]}" for kind, count in counts.items() if count)


def redaction_notices(counts: Mapping[SensitiveKind, int], *, where: str) -> Iterable[str]:
    """Return the notice about what was replaced in the texts that `where` names; none if nothing was."""
    return (f"redacted in {where}: {named}",) if (named := named_counts(counts)) else ()
