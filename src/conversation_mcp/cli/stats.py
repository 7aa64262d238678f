"""`stats`: what was asked, and what it took."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from conversation_mcp.cli.loading import folder_from
from conversation_mcp.cli.moments import milliseconds_at
from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.progress import progress
from conversation_mcp.cli.terminal import console, is_terminal, printable, put_fields, put_json, say
from conversation_mcp.stores.index.base import Watch
from conversation_mcp.text import dollars

if TYPE_CHECKING:
    from conversation_mcp.conversations.statistics import Statistics, Sums

UNKNOWN = "(unknown)"
COST_DIGITS = 9
COUNTING = "reading the conversations"
BAR_CELLS, WITH_BARS_COLUMNS = 20, 84
LEAST_KEY_COLUMNS = 10
HEADINGS = ("turns", "unanswered", "tokens in", "tokens out", "cost")


def stats(
    *,
    by: Annotated[
        Literal["day", "tool", "provider", "model"], typer.Option(help="What the rows are; days are those of UTC.")
    ] = "day",
    since: Annotated[
        str | None,
        typer.Option("--since", "--after", metavar="TIME", help="Only what was asked or answered since then, as 2d."),
    ] = None,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Show turns, tokens and cost.

    Questions that were charged and never answered count too, archived conversations as well. In a pipe each row is a
    line of name, turns, questions without an answer, tokens in and out, and cost, with tabs between them.
    """
    from conversation_mcp.conversations.listing import skipped  # noqa: PLC0415 -- the parser needs none of it
    from conversation_mcp.conversations.statistics import statistics  # noqa: PLC0415 -- the same

    folder, watch = folder_from(logs_dir), Watch()
    since_milliseconds = None if since is None else milliseconds_at("--since", since)
    watch.total = _count(folder)
    with progress(COUNTING, watch):
        found = statistics(folder, by, since_milliseconds, watch)
    if found.problems:
        say(f"Notice: {skipped(len(found.problems), found.problems)}.")
    if as_json:
        put_json(_data(found, by))
    elif is_terminal():
        _show(found, by)
    else:
        put_fields((name or UNKNOWN, *_cells(sums)) for name, sums in found.sums.items())


def _count(folder: Path) -> int:
    from conversation_mcp.conversations.files import find  # noqa: PLC0415 -- the parser needs none of it

    return sum(1 for _ in find(folder))


def _data(found: "Statistics", by: str) -> dict[str, Any]:
    return {
        "by": by,
        "rows": [{by: name, **_numbers(sums)} for name, sums in found.sums.items()],
        "total": _numbers(found.total),
        "conversationCount": found.conversation_count,
        "unreadableCount": len(found.problems),
    }


def _numbers(sums: "Sums") -> dict[str, float]:
    return {
        "turns": sums.answered,
        "unanswered": sums.unanswered,
        "inputTokens": sums.input_tokens,
        "outputTokens": sums.output_tokens,
        "costUsd": round(sums.cost_usd, COST_DIGITS),
    }


def _cells(sums: "Sums") -> tuple[object, ...]:
    return (sums.answered, sums.unanswered, sums.input_tokens, sums.output_tokens, dollars(sums.cost_usd))


def _show(found: "Statistics", by: str) -> None:
    from rich.table import Table  # noqa: PLC0415 -- a pipe needs none of it

    if not found.sums:
        say("Nothing was asked.")
        return
    screen = console()
    block = "█" if screen.encoding.startswith("utf") else "#"
    has_bars = screen.width >= WITH_BARS_COLUMNS
    most = max(_size(found, sums) for sums in found.sums.values())
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_footer=True)
    table.add_column(by, footer="total", no_wrap=True, overflow="ellipsis", min_width=LEAST_KEY_COLUMNS)
    for name, total in zip(HEADINGS, _texts(found.total), strict=True):
        table.add_column(name, footer=total, justify="right", no_wrap=True)
    if has_bars:
        table.add_column("", style="cyan", no_wrap=True)
    for name, sums in found.sums.items():
        bar = block * round(BAR_CELLS * _size(found, sums) / most) if most else ""
        table.add_row(printable(name or UNKNOWN), *_texts(sums), *([bar] if has_bars else ()))
    screen.print(table)


def _texts(sums: "Sums") -> tuple[str, ...]:
    return tuple(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in _cells(sums))


def _size(found: "Statistics", sums: "Sums") -> float:
    """Return what a bar shows: cost, or turns where nothing was charged."""
    return sums.cost_usd if found.total.cost_usd else sums.answered
