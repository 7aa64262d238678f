"""The choice of what does not fit: the oldest first, in steps, so that most requests begin like the one before them.

All sizes are in tokens. Nothing here knows what is selected.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

STEPS_PER_SHARE = 3
"""A step is the largest power of two of which this many fit into the budget, or into the share of files."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the parts of a request."""

    fixed: int
    """What is always sent, but for the last exchange."""
    turns: tuple[int, ...]
    """The turns without their files, oldest first."""
    files: tuple[int, ...]
    """The contents that earlier messages name, in the order in which they were named last."""
    own: tuple[int, ...] = ()
    """The contents that the new question names."""
    summaries: int = 0
    """The room for summaries of what is left out."""
    newest: int = 0
    """How many of `files` were named together, last of all; they go together."""


@dataclass(frozen=True)
class Omission:
    """What is left out: so many of the first turns and of the first files, and these of the question's own."""

    turns: int = 0
    files: int = 0
    own: frozenset[int] = frozenset()
    own_room: int = 0
    """The room that there was for the question's own files."""


def cut_to_fit(sizes: Sizes, budget: int, history_share: float, files_share: float) -> Omission:
    """Choose what is left out so that the rest fits into the budget.

    The last turn always stays; the caller has checked that it fits with what is fixed. As the budget grows, less of
    the history is left out, and less of the files as long as the same ones of the question's own are sent.
    """
    history, files, last = sum(sizes.turns), sum(sizes.files), sizes.turns[-1] if sizes.turns else 0
    if sizes.fixed + history + files + sum(sizes.own) <= budget:
        return Omission()
    fixed = sizes.fixed + sizes.summaries
    shares = _Shares(fixed, history_share, files_share)
    own_room = min(shares.for_files(budget, history), budget - fixed - last)
    own = _taken(sizes.own, own_room)
    if sizes.own and not own:  # an error would be worse than a step
        own_room = min(shares.beside(budget, history), budget - fixed - last)
        own = _smallest(sizes.own, own_room)
    asked, sent = files + sum(sizes.own), files + sum(sizes.own[place] for place in own)

    def too_much_history(of: int) -> int:
        return history - shares.for_history(of, asked)

    def too_many_files(of: int) -> int:
        return sent - shares.for_files(of, history)

    starts = _starts(sizes.turns)
    too_much = _in_steps(too_much_history, budget, 1)
    turns = min(sum(start < too_much for start in starts), max(0, len(starts) - 1))
    kept = sum(sizes.turns[turns:])
    least = max(sent - shares.beside(budget, history), sent + kept + fixed - budget, 0)
    most = max(least, _in_steps(too_many_files, budget, files_share))
    older = len(sizes.files) - (0 if own else sizes.newest)
    left_out = sum(start < (most if place < older else least) for place, start in enumerate(_starts(sizes.files)))
    return Omission(turns, left_out, frozenset(range(len(sizes.own))) - own, own_room)


@dataclass(frozen=True)
class _Shares:
    """The budgets of history and files: a share for certain, and what the other leaves; history has the rest."""

    fixed: int
    history: float
    files: float

    def for_history(self, budget: int, files: int) -> int:
        return budget - self.fixed - min(files, self._certain(budget, self.files))

    def for_files(self, budget: int, history: int) -> int:
        """Return the share for certain, or what the history leaves; that shrinks in steps as the history grows."""
        left = max(of - _rounded_up(self.fixed + history, step) for of, step in _steps(budget, 1))
        return max(self._certain(budget, self.files), left)

    def beside(self, budget: int, history: int) -> int:
        """Return the share of files for certain, or all that the history leaves."""
        return max(self._certain(budget, self.files), budget - self.fixed - history)

    def _certain(self, budget: int, share: float) -> int:
        """Return the share; a long question leaves both less, in proportion."""
        both = self.history + self.files
        left = max(0, budget - self.fixed)
        return math.floor(share * min(budget, left / both if both else 0))


def _in_steps(too_much: Callable[[int], int], budget: int, share: float) -> int:
    """Return how much is left out of what is too much for the budget: it is rounded up to whole steps.

    The smaller steps of a smaller budget may leave out less; then they count, so that more room never means that less
    is sent.
    """
    if too_much(budget) <= 0:
        return 0
    return min(_rounded_up(too_much(of), step) for of, step in _steps(budget, share))


def _steps(budget: int, share: float) -> Iterator[tuple[int, int]]:
    """Yield the budget with its step, then the largest of the budgets that have smaller steps, with theirs."""
    step = 1 << max(0, int(share * budget / STEPS_PER_SHARE).bit_length() - 1)
    yield budget, step
    while step > 1:
        of = min(budget, math.ceil(STEPS_PER_SHARE * step / share) - 1)
        step //= 2
        yield of, step


def _rounded_up(tokens: int, step: int) -> int:
    return math.ceil(tokens / step) * step


def _taken(own: Sequence[int], room: int) -> frozenset[int]:
    """Return the places of the files that are sent: those that were named first, and of the others what still fits.

    More room never means that a file has to stand back for one that was named after it.
    """
    taken: set[int] = set()
    for place, size in enumerate(own):
        if size <= room:
            taken.add(place)
            room -= size
    return frozenset(taken)


def _smallest(own: Sequence[int], room: int) -> frozenset[int]:
    """Return the place of the smallest file, if it fits."""
    place = min(range(len(own)), key=lambda place: own[place])
    return frozenset({place} if own[place] <= room else ())


def _starts(sizes: Sequence[int]) -> list[int]:
    return list(accumulate(sizes, initial=0))[:-1]
