"""The command `stats`: sums turns, tokens and cost."""

from typing import Annotated, Any, Literal

import typer

from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.progress import progress
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, put_fields, put_json, say
from conversation_mcp.cli.selection.moments import milliseconds_at
from conversation_mcp.cli.setup import finder_of, settings_from
from conversation_mcp.conversations.phrases import cached, skipped
from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import Statistics, Sums, statistics
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.stores.headway import Headway
from conversation_mcp.text import dollars

UNKNOWN = "(unknown)"
COUNTING = "reading the conversations"
BAR_CELLS, WITH_BARS_COLUMNS = 20, 84
LEAST_KEY_COLUMNS = 10
HEADINGS = ("turns", "unanswered", "tokens in", "tokens out", "cost")


def stats(
    *,
    by: Annotated[
        Literal["day", "tool", "provider", "model", "conversation"],
        typer.Option(help="What each row stands for; days are in UTC."),
    ] = "day",
    since: Annotated[
        str | None,
        typer.Option("--since", "--after", metavar="TIME", help="Only turns asked or answered since then, such as 2d."),
    ] = None,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Show turns, tokens and cost.

    As for a daily limit, questions that were charged but never answered count, and so do archived conversations and
    those in the trash. If a provider reports no cost, an estimate counts, marked with ~. Input that a provider read
    from its cache is shown as a share of the tokens in, and estimated at its own price. In a pipe, each row is a line
    of name, turns, questions without an answer, tokens in and out, and cost, separated by tabs; with --by conversation,
    the title comes last.
    """
    settings, headway = settings_from({"logs_dir": logs_dir, "owner": owner}).settings, Headway()
    prices = Prices(Catalogue(settings.models).load())
    since_milliseconds = None if since is None else milliseconds_at("--since", since)
    with progress(COUNTING, headway):
        found = statistics(finder_of(settings), by, since_milliseconds, prices, headway)
    if found.total.estimated_usd:
        say(
            f"Notice: {dollars(found.total.estimated_usd)} of the cost is an estimate (~): where a provider reports "
            f"none, the prices of {prices.date} are used."
        )
    if found.problems:
        say(f"Notice: {skipped(len(found.problems), found.problems)}.")
    if as_json:
        put_json(_data(found, by))
    elif is_terminal():
        _show(found, by)
    else:
        put_fields((name or UNKNOWN, *_cells(sums), *_title(found, name)) for name, sums in found.sums.items())


def _data(found: Statistics, by: str) -> dict[str, Any]:
    return {
        "by": by,
        "rows": [{by: name, **_titled(found, name), **sums.data()} for name, sums in found.sums.items()],
        "total": found.total.data(),
        "conversationCount": found.conversation_count,
        "unreadableCount": len(found.problems),
    }


def _title(found: Statistics, name: str | None) -> tuple[str, ...]:
    return (found.titles[name],) if name in found.titles else ()


def _titled(found: Statistics, name: str | None) -> dict[str, str]:
    return {"title": found.titles[name]} if name in found.titles else {}


def _cells(sums: Sums) -> tuple[object, ...]:
    return (sums.answered, sums.unanswered, sums.input_tokens, sums.output_tokens, _cost(sums))


def _cost(sums: Sums) -> str:
    return ("~" if sums.estimated_usd else "") + dollars(sums.cost_usd)


def _show(found: Statistics, by: str) -> None:
    from rich.table import Table

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
        shown = " ".join((name or UNKNOWN, *_title(found, name)))
        table.add_row(printable(shown), *_texts(sums), *([bar] if has_bars else ()))
    screen.print(table)


def _texts(sums: Sums) -> tuple[str, ...]:
    texts = [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in _cells(sums)]
    sent = HEADINGS.index("tokens in")
    texts[sent] = ", ".join(filter(None, (texts[sent], cached(sums.cached_tokens, sums.input_tokens))))
    return tuple(texts)


def _size(found: Statistics, sums: Sums) -> float:
    """Return what a bar shows: cost, or turns where nothing was charged."""
    return sums.cost_usd if found.total.cost_usd else sums.answered
