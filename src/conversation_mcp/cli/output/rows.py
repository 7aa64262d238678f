"""Conversations in lists: as JSON data, as lines for a pipe, and as rows of a table."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from conversation_mcp.cli.output.terminal import printable, put_fields
from conversation_mcp.cli.output.times import when
from conversation_mcp.records.facts import moment_of
from conversation_mcp.records.found import Listed
from conversation_mcp.text import dollars, shorten

if TYPE_CHECKING:
    from rich.table import Table

WITH_IDS_COLUMNS, WITH_REMARKS_COLUMNS = 72, 110
REMARK = ""  # the column has no heading
COLUMNS = {
    "when": 0,
    "turns": 0,
    "cost": 0,
    "state": 0,
    "title": 0,
    "tags": WITH_IDS_COLUMNS,
    REMARK: WITH_REMARKS_COLUMNS,
    "id": WITH_IDS_COLUMNS,
    "branch of": WITH_REMARKS_COLUMNS,
}
"""The least width of the terminal for each column."""
ALWAYS = frozenset({"when", "turns", "cost", "title", "id"})
"""The columns that are shown even if they are empty."""
GAP, REMARK_CHARS, TAGS_CHARS, LEAST_TITLE_COLUMNS = 2, 40, 24, 10
ANSWERED = "answered"
RIGHT = frozenset({"size", "turns"})
MARK = "**"


def row_data(facts: Listed, location: str) -> dict[str, Any]:
    """Return the conversation as JSON data, without unknown facts."""
    data = {
        "conversationId": facts.conversation_id,
        "title": facts.title,
        "createdAt": facts.created_at,
        "updatedAt": facts.updated_at,
        "messageCount": facts.message_count,
        "turnCount": facts.turn_count,
        "lastQuestion": facts.last_question,
        "costUsd": facts.cost_usd,
        "inputTokens": facts.input_tokens or None,
        "outputTokens": facts.output_tokens or None,
        "sizeBytes": facts.size_bytes,
        "state": facts.state,
        "problem": facts.problem,
        "tool": facts.last_tool,
        "tags": list(facts.tags) or None,
        "parent": {"conversationId": facts.parent_id} if facts.parent_id else None,
        "foundBy": facts.found_by,
        "snippet": facts.snippet or None,
        "messageNumber": facts.message_number,
        "conversationPath": location,
    }
    return {name: value for name, value in data.items() if value is not None}


def put_lines(found: Iterable[Listed]) -> None:
    """Print a line of fields for each conversation, for programs; matches of a search end with their place."""
    put_fields((*_fields(facts), *_place(facts)) for facts in found)


def size_of(facts: Listed) -> str:
    """Return the size of the file in KB."""
    return f"{max(1, round(facts.size_bytes / 1024)):,} KB"


def when_updated(facts: Listed, moment: datetime) -> str:
    """Return when the conversation was last changed, relative to the moment."""
    return when(moment_of(facts.updated_milliseconds), moment)


def table_of(
    found: Sequence[Listed],
    columns: int,
    moment: datetime,
    *,
    has_header: bool,
    last_id: str | None,
    has_sizes: bool = False,
) -> "Table":
    """Return a table of at most so many columns of characters; `last_id` marks the conversation that `last` means."""
    cells = [_cells(facts, moment, last_id) for facts in found]
    names = [name for name, least in COLUMNS.items() if columns >= least]
    names = [name for name in names if name in ALWAYS or any(row[name] for row in cells)]
    if has_sizes:
        names.insert(0, "size")
    return _table(names, [[row[name] for name in names] for row in cells], columns, has_header=has_header)


def _fields(facts: Listed) -> Iterable[object]:
    return (
        facts.conversation_id,
        facts.updated_at,
        facts.turn_count,
        dollars(facts.cost_usd),
        facts.state or ANSWERED,
        facts.title,
        ",".join(facts.tags),
        facts.parent_id or "",
    )


def _place(facts: Listed) -> Iterable[object]:
    if facts.snippet is None:
        return ()
    return (facts.message_number or "", facts.snippet.replace(MARK, ""))


def _cells(facts: Listed, moment: datetime, last_id: str | None) -> dict[str, str]:
    return {
        "size": size_of(facts),
        "when": when_updated(facts, moment),
        "turns": str(facts.turn_count),
        "cost": dollars(facts.cost_usd),
        "state": facts.state or "",
        "title": facts.title,
        "tags": shorten(", ".join(facts.tags), TAGS_CHARS),
        REMARK: shorten(_remark(facts, last_id), REMARK_CHARS),
        "id": facts.conversation_id,
        "branch of": facts.parent_id or "",
    }


def _remark(facts: Listed, last_id: str | None) -> str:
    is_last = facts.conversation_id == last_id
    if facts.problem:
        return f"question not answered: {facts.problem}"
    kind = "deep research" if (facts.last_tool or "").startswith("deep_research") else ""
    return ", ".join(part for part in ("last" if is_last else "", kind) if part)


def _table(names: Sequence[str], rows: Sequence[Sequence[str]], columns: int, *, has_header: bool) -> "Table":
    """Return a table in which the title gets the width that the other columns leave."""
    from rich.cells import cell_len
    from rich.table import Table

    widths = [max(len(name), *(cell_len(row[place]) for row in rows)) for place, name in enumerate(names)]
    others = sum(width + GAP for name, width in zip(names, widths, strict=True) if name != "title")
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", show_header=has_header)
    for place, name in enumerate(names):
        table.add_column(
            name,
            no_wrap=True,
            overflow="ellipsis",
            justify="right" if name in RIGHT else "left",
            style="dim" if place > names.index("title") else "",
            max_width=max(LEAST_TITLE_COLUMNS, columns - others) if name == "title" else None,
        )
    for row in rows:
        table.add_row(*map(printable, row))
    return table
