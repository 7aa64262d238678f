"""What every benchmark measures with: how thoroughly, with which peers, and one side after the other."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.benchmarks.table import Row

QUICK_DIVISOR = 5
FEWEST_ROUNDS = 3


@dataclass(frozen=True)
class Plan:
    """How to measure: in a scratch folder on a real disk, with the interpreter that the peers are installed for."""

    scratch: Path
    peers_python: Path
    quick: bool = False
    load_minutes: float = math.inf
    """How long each server may be under load, warm-up included."""

    def rounds(self, full: int) -> int:
        """Return how often each side is measured."""
        return max(FEWEST_ROUNDS, full // QUICK_DIVISOR) if self.quick else full


@dataclass(frozen=True)
class Benchmark:
    """Rows that are measured together, by name, and how."""

    names: tuple[str, ...]
    measure: Callable[[Plan], Iterable[Row]]

    def is_wanted(self, wanted: Sequence[str]) -> bool:
        """Tell whether one of its rows was asked for."""
        return any(is_named(name, wanted) for name in self.names)


def is_named(name: str, wanted: Sequence[str]) -> bool:
    """Tell whether a row was asked for, by its name or by whole words that it begins with; all are if none was."""
    return not wanted or any(name == asked or name.startswith(f"{asked}-") for asked in wanted)


def alternate(rounds: int, sides: Sequence[Callable[[], float]], warm_ups: int = 1) -> list[float]:
    """Measure the sides in turn, A B A B …, and return the median of each; the first turns do not count."""
    samples: list[list[float]] = [[] for _ in sides]
    for turn in range(warm_ups + rounds):
        for side, measured in zip(sides, samples, strict=True):
            value = side()
            if turn >= warm_ups:
                measured.append(value)
    return [median(measured) for measured in samples]
