"""What `list` prints: a table on a terminal, lines in a pipe."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.cli.loading import folder_from
from conversation_mcp.cli.terminal import console, is_terminal, printable, put_fields, put_json, say
from conversation_mcp.cli.times import now, when
from conversation_mcp.conversations.files import seconds_of
from conversation_mcp.conversations.listing import Listing, Summary, newest
from conversation_mcp.text import dollars, shorten

if TYPE_CHECKING:
    from rich.table import Table

SHOWN_ON_TERMINAL = 20
WITH_IDS_COLUMNS, WITH_REMARKS_COLUMNS = 72, 110
GAP, REMARK_CHARS, LEAST_TITLE_COLUMNS = 2, 40, 10
ANSWERED = "answered"


def show_list(limit: int | None = None, logs_dir: Path | None = None, *, as_json: bool = False) -> None:
    """Print the conversations, newest first."""
    folder = folder_from(logs_dir)
    listing = newest(folder, limit_of(limit, as_json=as_json))
    say_problems(listing.problems)
    if as_json:
        put_json(
            {
                "conversations": [summary.data() for summary in listing.summaries],
                "totalCount": listing.total,
                "problems": listing.problems,
            }
        )
    elif is_terminal():
        _show(listing, str(folder))
    else:
        put_lines(listing.summaries)


def limit_of(limit: int | None, *, as_json: bool) -> int | None:
    """Return how many to show: what was asked for, else what a person reads and all for a program."""
    if limit is None:
        return SHOWN_ON_TERMINAL if is_terminal() and not as_json else None
    return limit or None


def say_problems(problems: Sequence[str]) -> None:
    """Say what could not be read; the command goes on without it."""
    for problem in problems:
        say(problem)


def put_lines(summaries: Iterable[Summary]) -> None:
    """Print a line of fields for each conversation, for programs."""
    put_fields(
        (
            summary.conversation_id,
            summary.updated_at,
            summary.turn_count,
            "" if summary.cost_usd is None else dollars(summary.cost_usd),
            summary.status,
            summary.title,
        )
        for summary in summaries
    )


def cost_or_state(summary: Summary) -> str:
    """Return what the conversation cost, or what became of a question that has no answer."""
    if summary.status != ANSWERED:
        return summary.status
    return "" if summary.cost_usd is None else dollars(summary.cost_usd)


def _show(listing: Listing, folder: str) -> None:
    if not listing.summaries:
        say(f'There are no conversations in {folder}. Start one with: conversation-mcp ask "…"')
        return
    screen, moment = console(), now().astimezone()
    names = ["when", "turns", "cost", "title"]
    rows = [
        [
            when(datetime.fromtimestamp(seconds_of(summary.updated_at), UTC), moment),
            str(summary.turn_count),
            cost_or_state(summary),
            summary.title,
        ]
        for summary in listing.summaries
    ]
    if screen.width >= WITH_REMARKS_COLUMNS:
        names.append("")
        for row, summary in zip(rows, listing.summaries, strict=True):
            row.append(shorten(_remark(summary, is_last=summary is listing.summaries[0]), REMARK_CHARS))
    if screen.width >= WITH_IDS_COLUMNS:
        names.append("id")
        for row, summary in zip(rows, listing.summaries, strict=True):
            row.append(summary.conversation_id)
    screen.print(_table(names, rows, screen.width))
    if (left := listing.total - len(listing.summaries) - len(listing.problems)) > 0:
        say(f"{left} more; --limit 0 shows all.")


def _table(names: Sequence[str], rows: Sequence[Sequence[str]], columns: int) -> "Table":
    """Return a table in which the title gets what the others leave."""
    from rich.table import Table  # noqa: PLC0415 -- a pipe needs none of it

    widths = [max(len(name), *(len(row[place]) for row in rows)) for place, name in enumerate(names)]
    others = sum(width + GAP for name, width in zip(names, widths, strict=True) if name != "title")
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for place, name in enumerate(names):
        table.add_column(
            name,
            no_wrap=True,
            overflow="ellipsis",
            justify="right" if name == "turns" else "left",
            style="dim" if place > names.index("title") else "",
            max_width=max(LEAST_TITLE_COLUMNS, columns - others) if name == "title" else None,
        )
    for row in rows:
        table.add_row(*map(printable, row))
    return table


def _remark(summary: Summary, *, is_last: bool) -> str:
    if summary.problem:
        return f"question not answered: {summary.problem}"
    kind = "deep research" if (summary.tool or "").startswith("deep_research") else ""
    return ", ".join(part for part in ("last" if is_last else "", kind) if part)
