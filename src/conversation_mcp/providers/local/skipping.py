"""What was left out, counted by reason."""

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
    NEEDS_EXTRA = "PDF or Word, which need `pip install 'conversation-mcp[documents]'`"
    TOO_LARGE = "too large"
    BINARY = "binary"
    UNCONVERTED = "that cannot be converted"
    UNREADABLE = "unreadable"


BY_CONVENTION = frozenset({Reason.HIDDEN, Reason.IGNORED, Reason.INSTALLED, Reason.GENERATED, Reason.OTHER})
"""What nobody expects in an answer; the doctor names it all the same."""


class Skipped:
    """Counts what was left out, and keeps the first few names of each reason."""

    def __init__(self) -> None:
        self.counts: Counter[Reason] = Counter()
        self.examples: dict[Reason, list[str]] = {}

    def add(self, reason: Reason, name: str) -> None:
        """Count one more."""
        self.counts[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < SHOWN_EXAMPLES:
            examples.append(name)

    def with_all(self, others: Iterable[tuple[Reason, str]]) -> "Skipped":
        """Return a copy that counts some more."""
        skipped = Skipped()
        skipped.counts.update(self.counts)
        skipped.examples.update({reason: list(names) for reason, names in self.examples.items()})
        for reason, name in others:
            skipped.add(reason, name)
        return skipped

    def summary(self) -> Iterator[tuple[str, int, tuple[str, ...]]]:
        """Yield each reason with how many it left out and the first few names."""
        for reason in Reason:
            if count := self.counts[reason]:
                yield reason.value, count, tuple(self.examples[reason])

    def sentence(self) -> str:
        """Return what was left out against expectation, and why; empty when nothing was."""
        counts = [
            f"{self.counts[reason]} {reason}"
            for reason in Reason
            if self.counts[reason] and reason not in BY_CONVENTION
        ]
        return f"Some of the named files were not read: {', '.join(counts)}." if counts else ""
