"""Sums as bars: drawn as SVG, with the numbers in a table beside them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conversation_mcp.conversations.phrases import cached
from conversation_mcp.conversations.statistics import Statistics, Sums
from conversation_mcp.text import dollars

UNKNOWN = "unknown"
WIDTH, HEIGHT, GAP = 360.0, 120.0, 1.5
MAX_BARS, LEAST_BARS = 60, 12
LEAST_HEIGHT = 1.5
"""What is not nothing must not look like nothing."""


@dataclass(frozen=True)
class Bar:
    """A bar of a chart, in its units."""

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True)
class NumberLine:
    """A line of the table."""

    name: str
    turns: str
    unanswered: str
    tokens_in: str
    tokens_out: str
    cost: str


@dataclass(frozen=True)
class Chart:
    """The bars of one kind of amount."""

    name: str
    bars: tuple[Bar, ...]
    highest: str
    """The amount that the highest bar stands for."""


@dataclass(frozen=True)
class Figures:
    """The bars and the numbers of one way to sum up."""

    charts: tuple[Chart, ...]
    """Costs, if anything has cost something, and turns."""
    span: str
    """From which of the names to which the bars go."""
    lines: tuple[NumberLine, ...]
    total: NumberLine


def figures_of(found: Statistics) -> Figures:
    """Return the figures."""
    shown = list(found.sums.items())[-MAX_BARS:]
    names = [name or UNKNOWN for name, _ in shown]
    costs = _chart("Cost", names, [sums.cost_usd for _, sums in shown], dollars)
    turns = _chart("Turns", names, [float(sums.answered) for _, sums in shown], "{:,.0f}".format)
    return Figures(
        charts=tuple(chart for chart in (costs, turns) if chart.bars),
        span=" to ".join(dict.fromkeys((names[0], names[-1]))) if names else "",
        lines=tuple(_line(name, sums) for name, sums in found.sums.items()),
        total=_line("total", found.total),
    )


def _chart(name: str, names: Sequence[str], amounts: Sequence[float], shown: Callable[[float], str]) -> Chart:
    highest = max(amounts, default=0.0)
    step = WIDTH / max(len(amounts), LEAST_BARS)
    bars: list[Bar] = []
    for place, (bar, amount) in enumerate(zip(names, amounts, strict=True)):
        height = max(HEIGHT * amount / highest, LEAST_HEIGHT) if amount else 0.0
        label = f"{bar}: {shown(amount)}"
        bars.append(
            Bar(round(place * step, 2), round(HEIGHT - height, 2), round(step - GAP, 2), round(height, 2), label)
        )
    return Chart(name, tuple(bars) if highest else (), shown(highest))


def _line(name: str | None, sums: Sums) -> NumberLine:
    share = cached(sums.cached_tokens, sums.input_tokens)
    return NumberLine(
        name=name or UNKNOWN,
        turns=f"{sums.answered:,}",
        unanswered=f"{sums.unanswered:,}",
        tokens_in=f"{sums.input_tokens:,}" + (f" ({share})" if share else ""),
        tokens_out=f"{sums.output_tokens:,}",
        cost=("~" if sums.estimated_usd else "") + dollars(sums.cost_usd),
    )
