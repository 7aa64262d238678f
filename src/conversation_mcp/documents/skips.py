"""Files that were left out, counted by reason."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

SHOWN_EXAMPLES = 3


class Reason(StrEnum):
    """Why a file or folder is not read."""

    HIDDEN = "hidden"
    IGNORED = "ignored by git"
    INSTALLED = "installed packages"
    GENERATED = "made by programs"
    OTHER = "of a kind that is not read"
    SECRET = "secrets by their names"  # noqa: S105 -- a reason, not a secret
    LINKED = "linked from elsewhere"
    UNREAD_KIND = "of kinds that are not read"
    NEEDS_EXTRA = "PDF, Word, Excel or RTF, which need `pip install 'conversation-mcp[documents]'`"
    UNKNOWN_ENCODING = "neither UTF-8 nor in an encoding that they declare"
    TOO_LARGE = "too large"
    BINARY = "binary"
    NO_TEXT = "scanned or otherwise without text"
    UNCONVERTED = "that cannot be converted"
    UNREADABLE = "unreadable"


BY_CONVENTION = frozenset({Reason.HIDDEN, Reason.IGNORED, Reason.INSTALLED, Reason.GENERATED, Reason.OTHER})
"""Files that nobody expects in an answer; only `doctor` names them."""
SOUND = frozenset({Reason.UNREAD_KIND, Reason.NEEDS_EXTRA, Reason.UNKNOWN_ENCODING, Reason.NO_TEXT})
"""Undamaged files that may well hold the answer."""
BY_KIND = frozenset({Reason.UNREAD_KIND, Reason.NEEDS_EXTRA})
"""Files that are also counted by the suffixes of their names."""
SHOWN_KINDS = 8


class Skipped:
    """Counts files that were left out, and keeps the first few names for each reason."""

    def __init__(self) -> None:
        self.counts: Counter[Reason] = Counter()
        self.examples: dict[Reason, list[str]] = {}
        self.kinds: dict[Reason, Counter[str]] = {}

    def add(self, reason: Reason, name: str) -> None:
        """Count a file."""
        self.counts[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < SHOWN_EXAMPLES:
            examples.append(name)
        if reason in BY_KIND:
            self.kinds.setdefault(reason, Counter())[suffix(name).lower() or "no suffix"] += 1

    def with_all(self, others: Iterable[tuple[Reason, str]]) -> "Skipped":
        """Return a copy that also counts these files."""
        skipped = Skipped()
        skipped.counts.update(self.counts)
        skipped.examples.update({reason: list(names) for reason, names in self.examples.items()})
        skipped.kinds.update({reason: Counter(kinds) for reason, kinds in self.kinds.items()})
        for reason, name in others:
            skipped.add(reason, name)
        return skipped

    def summary(self) -> Iterator[tuple[str, int, tuple[str, ...]]]:
        """Yield each reason with the number of files and the first few names."""
        for reason in Reason:
            if count := self.counts[reason]:
                yield f"{reason}{self._listed_kinds(reason)}", count, tuple(self.examples[reason])

    @property
    def unexpected(self) -> int:
        """How many files were left out that could hold an answer."""
        return sum(count for reason, count in self.counts.items() if reason not in BY_CONVENTION)

    @property
    def has_sound(self) -> bool:
        """Whether some are undamaged files of another kind or encoding, which their owner can convert."""
        return any(self.counts[reason] for reason in SOUND)

    def sentence(self) -> str:
        """Return a sentence about the files left out unexpectedly, and why; empty if there are none."""
        counts = [
            f"{self.counts[reason]:,} {reason}{self._listed_kinds(reason)}"
            for reason in Reason
            if self.counts[reason] and reason not in BY_CONVENTION
        ]
        return f"Some of the named files were not read: {', '.join(counts)}." if counts else ""

    def _listed_kinds(self, reason: Reason) -> str:
        kinds = self.kinds.get(reason)
        if not kinds:
            return ""
        shown = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))[:SHOWN_KINDS]
        more = sum(kinds.values()) - sum(count for _, count in shown)
        return f" ({', '.join(f'{count:,} {kind}' for kind, count in shown)}{f' and {more:,} more' if more else ''})"


def suffix(name: str) -> str:
    """Return the suffix of a name or path, from its last dot on."""
    name = name.rpartition(os.sep)[2]
    dot = name.rfind(".")
    return name[dot:] if dot > 0 else ""
