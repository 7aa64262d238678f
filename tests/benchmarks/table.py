"""The table: what was measured on both sides, and whether the ratio keeps its budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["ms", "MiB", "bytes", "tokens", "of 1", "per s", "requests", "turns"]
Verdict = Literal["ok", "over", "-", "not measured"]
HEADINGS = ("row", "what", "ours", "theirs", "ratio", "budget", "")
WHOLE_FROM = 100


@dataclass(frozen=True)
class Budget:
    """The most that the ratio may be; with `below` it must stay under the limit."""

    limit: float
    below: bool = False

    def holds(self, ratio: float) -> bool:
        """Tell whether the ratio is within the budget."""
        return ratio < self.limit if self.below else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'<' if self.below else '≤'} {self.limit:g} ×"


@dataclass(frozen=True)
class Row:
    """One measurement. A side that could not be measured is None, and `missing` says why; no budget, no verdict."""

    name: str
    what: str
    unit: Unit
    against: str
    ours: float | None
    theirs: float | None
    budget: Budget | None = None
    missing: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over theirs, to the three digits that are printed, so that the verdict fits what is read."""
        if self.ours is None or not self.theirs:
            return None
        return float(f"{self.ours / self.theirs:.3g}")

    @property
    def verdict(self) -> Verdict:
        """Whether the budget is kept."""
        if self.ours is None or self.theirs is None:
            return "not measured"
        if self.budget is None:
            return "-"
        if self.ratio is None:
            return "not measured"
        return "ok" if self.budget.holds(self.ratio) else "over"

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the columns."""
        theirs = f"{_quantity(self.theirs, self.unit)} ({self.against})" if self.theirs is not None else self.against
        return (
            self.name,
            self.what,
            _quantity(self.ours, self.unit),
            theirs,
            "-" if self.ratio is None else f"{self.ratio:g} ×",
            "-" if self.budget is None else str(self.budget),
            f"{self.verdict}: {self.missing}" if self.missing else self.verdict,
        )


def render(rows: Iterable[Row]) -> str:
    """Return the rows as one Markdown table whose columns also line up as plain text."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    head, *body = (_line(line, widths) for line in lines)
    return "\n".join((head, rule, *body))


def summary(rows: Sequence[Row]) -> str:
    """Return how many budgets are kept."""
    verdicts = [row.verdict for row in rows]
    counts = {
        "within budget": verdicts.count("ok"),
        "over budget": verdicts.count("over"),
        "without a budget": verdicts.count("-"),
        "not measured": verdicts.count("not measured"),
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing was measured"


def exit_code(rows: Iterable[Row]) -> int:
    """Return 1 when something is over its budget; what could not be measured fails nothing."""
    return int(any(row.verdict == "over" for row in rows))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def _quantity(value: float | None, unit: Unit) -> str:
    if value is None:
        return "-"
    whole = unit in {"bytes", "tokens", "requests", "turns"} or value >= WHOLE_FROM
    return f"{value:,.0f} {unit}" if whole else f"{value:.3g} {unit}"
