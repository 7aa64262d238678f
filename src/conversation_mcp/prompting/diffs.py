"""The changes between two versions of a file."""

from difflib import unified_diff
from itertools import takewhile

CONTEXT_LINES = 3
MOST_COMPARISONS = 1_000_000
"""The largest product of the numbers of lines to compare; beyond it a file counts as rewritten."""
NO_LINE_END = "\n\\ No newline at end of file"


def changes_between(before: str, after: str) -> str | None:
    """Return a unified diff without its two header lines; None if there is too much to compare."""
    old, new = _lines(before), _lines(after)
    first = max(0, _alike(old, new) - CONTEXT_LINES)
    last = max(0, _alike(old[first:][::-1], new[first:][::-1]) - CONTEXT_LINES)
    old_part, new_part = old[first : len(old) - last], new[first : len(new) - last]
    if len(old_part) * len(new_part) > MOST_COMPARISONS:
        return None
    # Equal lines before the part keep the numbers of the lines right.
    hunks = list(unified_diff(old_part, new_part, n=CONTEXT_LINES, lineterm=""))[2:]
    return "\n".join(_moved(line, first) if line.startswith("@@ ") else line for line in hunks)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        # As `diff` shows it; else a line end that was added or removed would be no change.
        lines[-1] += NO_LINE_END
        return lines
    return lines[:-1]


def _alike(old: list[str], new: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _moved(hunk: str, lines: int) -> str:
    """Return the head of a hunk with its line numbers moved down."""
    _, old, new, end = hunk.split(" ", 3)
    return f"@@ -{_later(old[1:], lines)} +{_later(new[1:], lines)} {end}"


def _later(place: str, lines: int) -> str:
    line, comma, count = place.partition(",")
    return f"{int(line) + lines}{comma}{count}"
