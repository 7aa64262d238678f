"""Sums as bars: drawn as SVG, with the numbers in a table beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversation_mcp.conversations.phrases import cached
from conversation_mcp.conversations.statistics import Statistics, Sums
from conversation_mcp.text import dollars

UNKNOWN = "unknown"
WIDTH, HEIGHT, GAP = 720.0, 160.0, 2.0
MAX_BARS = 60
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
class Figures:
    """The bars and the numbers of one way to sum up."""

    bars: tuple[Bar, ...]
    lines: tuple[NumberLine, ...]
    total: NumberLine
    highest: str
    """The amount that the highest bar stands for."""


def figures_of(found: Statistics) -> Figures:
    """Return the figures; the bars are costs, or turns if nothing has cost anything."""
    shown = list(found.sums.items())[-MAX_BARS:]
    is_free = not found.total.cost_usd
    amounts = [float(sums.answered) if is_free else sums.cost_usd for _, sums in shown]
    highest = max(amounts, default=0.0)
    lines = tuple(_line(name, sums) for name, sums in found.sums.items())
    return Figures(
        bars=tuple(_bars([name or UNKNOWN for name, _ in shown], amounts, highest, is_free=is_free)),
        lines=lines,
        total=_line("total", found.total),
        highest=_amount(highest, is_free=is_free),
    )


def _bars(names: Sequence[str], amounts: Sequence[float], highest: float, *, is_free: bool) -> list[Bar]:
    step = WIDTH / max(len(amounts), 12)
    bars: list[Bar] = []
    for place, (name, amount) in enumerate(zip(names, amounts, strict=True)):
        height = max(HEIGHT * amount / highest, LEAST_HEIGHT) if highest and amount else 0.0
        label = f"{name}: {_amount(amount, is_free=is_free)}"
        bars.append(
            Bar(round(place * step, 2), round(HEIGHT - height, 2), round(step - GAP, 2), round(height, 2), label)
        )
    return bars


def _amount(amount: float, *, is_free: bool) -> str:
    return f"{amount:,.0f} turns" if is_free else dollars(amount)


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
