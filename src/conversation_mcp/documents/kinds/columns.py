"""Columns of a page that was laid out with spaces, put one after the other instead of line by line.

A table looks much the same. The difference: sentences continue from line to line within a column, whereas each row of a
table begins a new one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

MIN_LINES = 3
NEAR_CHARS = 12
MIN_WORDS, MIN_CHARS = 2.5, 12
MIN_GOING_ON = 0.35
PART = re.compile(r"\S+(?: {1,2}\S+)*")
HYPHENS = ("-", "\u00ad", "\u2010")
FIRST_LETTER = re.compile(r"\W*([^\W\d_])?")

Parts = list[tuple[int, str]]
"""A text between wide gaps in a line, with its place."""


def in_columns(lines: Sequence[str]) -> list[str] | None:
    """Return the lines with columns one after the other; None if there are no columns."""
    parted = [[(found.start(), found.group()) for found in PART.finditer(line)] for line in lines]
    counts = Counter(len(parts) for parts in parted if len(parts) > 1)
    for count, _ in counts.most_common(2):
        starts = [median(parts[number][0] for parts in parted if len(parts) == count) for number in range(count)]
        runs = list(_runs(parted, starts))
        if any(is_columns for is_columns, _ in runs):
            return [
                line for is_columns, run in runs for line in (_unfolded(run, starts) if is_columns else _lines(run))
            ]
    return None


def _runs(parted: Sequence[Parts], starts: Sequence[float]) -> Iterator[tuple[bool, Sequence[Parts]]]:
    """Yield runs of lines, and for each whether columns begin at these places in it."""
    begin = 0
    for end in range(len(parted) + 1):
        if end < len(parted) and _columns_of(parted[end], starts) is not None:
            continue
        run = parted[begin:end]
        yield _are_columns(run, starts), run
        yield False, parted[end : end + 1]
        begin = end + 1


def _columns_of(parts: Parts, starts: Sequence[float]) -> list[int] | None:
    """Return the column of each part of a line; None if the line is not divided that way."""
    if len(parts) == len(starts):
        return list(range(len(starts)))
    columns = [min(range(len(starts)), key=lambda number: abs(starts[number] - start)) for start, _ in parts]
    for column, (start, text) in zip(columns, parts, strict=True):
        reaches_over = column + 1 < len(starts) and start + len(text) > starts[column + 1] + NEAR_CHARS
        if abs(starts[column] - start) > NEAR_CHARS or reaches_over:
            return None
    return columns if len(set(columns)) == len(columns) else None


def _column(run: Sequence[Parts], starts: Sequence[float], number: int) -> list[str]:
    found: list[str] = []
    for parts in run:
        columns = _columns_of(parts, starts) or []
        text = next((text for column, (_, text) in zip(columns, parts, strict=False) if column == number), "")
        if text or found[-1:] != [""]:
            found.append(text)
    return found


def _are_columns(run: Sequence[Parts], starts: Sequence[float]) -> bool:
    if sum(len(parts) == len(starts) for parts in run) < MIN_LINES:
        return False
    return all(_is_prose([text for text in _column(run, starts, number) if text]) for number in range(len(starts)))


def _unfolded(run: Sequence[Parts], starts: Sequence[float]) -> Iterator[str]:
    for number in range(len(starts)):
        lines = _column(run, starts, number)
        yield from lines
        # A word that is cut at the end of a column goes on at the top of the next.
        if not lines[-1].endswith(HYPHENS):
            yield ""


def _lines(run: Sequence[Parts]) -> Iterator[str]:
    yield from (" ".join(text for _, text in parts) for parts in run)


def _is_prose(lines: Sequence[str]) -> bool:
    """Tell whether the lines are long enough for sentences that continue from one to the next."""
    if sum(map(len, lines)) < MIN_CHARS * len(lines):
        return False
    letters = [found.group(1) for line in lines[1:] if (found := FIRST_LETTER.match(line)) and found.group(1)]
    cased = [letter for letter in letters if letter.lower() != letter.upper()]
    if not cased:  # a script without small letters, perhaps without spaces
        return bool(letters)
    words = sum(len(line.split()) for line in lines)
    return words >= MIN_WORDS * len(lines) and sum(map(str.islower, cased)) >= MIN_GOING_ON * len(cased)
