"""The tables of simonw/llm before version 0.36, with a question and its answer in one row."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from conversation_mcp.importing.base import Item, LeftOut, ReadOptions, Sourced, Unplaced
from conversation_mcp.importing.formats.llm_database import (
    Row,
    columns_of,
    facts_of,
    field_of,
    numbers_by,
    row_at,
    rows_of,
)
from conversation_mcp.importing.messages import answered, message, missing, name_of, text_of
from conversation_mcp.records.models import Message

TOOLS = ("tool_calls", "tool_results")
LINKS = ("prompt_fragments", "system_fragments", "prompt_attachments", *TOOLS)
NO_LINKS: Mapping[object, Sequence[int]] = {}
MISSING = "fragments that are missing"
"""The name under which broken references are counted."""


def older(
    name: str,
    database: sqlite3.Connection,
    table: str,
    group: str,
    threads: Mapping[str, set[int]],
    tables: set[str],
    reading: ReadOptions,
) -> Iterator[Item]:
    """Yield the conversations of a table that has a question and its answer in a row.

    Rows of one that has a thread are counted, unless their answers stand in it: `threads` has what is said in each.
    """
    columns = columns_of(database, table)
    group = group if group in columns else "NULL"
    order = "datetime_utc" if "datetime_utc" in columns else "timestamp" if "timestamp" in columns else "rowid"
    beside = _Beside(database, tables if table == "responses" else set())
    old: Counter[LeftOut] = Counter()
    for key, numbers in _groups(database, table, group, order).items():
        found = (row_at(database, table, number) for number in numbers)
        rows = [row for row in found if not _is_in_a_turn(database, row, tables)]
        if key in threads:
            old[table] += sum(hash(text_of(row.get("response"))) not in threads[key] for row in rows)
        elif rows:
            yield _of_rows(f"{name}, {table} {key}", table, key, rows, beside, _title(database, key, tables), reading)
    if old.total():
        yield Unplaced(old)


def _groups(database: sqlite3.Connection, table: str, group: str, order: str) -> dict[str, list[int]]:
    """Return the numbers of the rows of each conversation, in the order in which these were started."""
    found = numbers_by(database, table, f"COALESCE({group}, 'row ' || rowid)", f"{order}, rowid")
    return {str(key): found[key] for key in sorted(found, key=lambda key: min(found[key]))}


class _Beside:
    """The rows of other tables that belong to a response: fragments, attachments and tools."""

    def __init__(self, database: sqlite3.Connection, tables: set[str]) -> None:
        self._database = database
        self._tables = tables
        self._links = {table: _links(database, table) for table in LINKS if table in tables}
        self.left_out: Counter[LeftOut] = Counter()

    def with_fragments(self, own: str, row: Row, table: str, between: str) -> str:
        """Return the text with its fragments before it, as llm sent it."""
        found = [text_of(each.get("content")) for each in self._linked(row, table, "fragments", "fragment_id")]
        return between.join(text for text in (*found, own) if text.strip())

    def attachments(self, row: Row) -> tuple[str, ...]:
        """Count the attachments and return the notices that name them."""
        found = self._linked(row, "prompt_attachments", "attachments", "attachment_id")
        names = (next((str(each[field]) for field in ("path", "url", "type") if each.get(field)), "") for each in found)
        return missing([name_of(name) or "a file without a name" for name in names], self.left_out)

    def count_tools(self, row: Row) -> None:
        """Count the calls and results of tools."""
        for table in TOOLS:
            self.left_out["tool messages"] += len(self._links.get(table, NO_LINKS).get(row.get("id"), ()))

    def _linked(self, row: Row, links: str, table: str, key: str) -> list[Row]:
        """Return the rows that the links name, in order; a missing fragment is counted."""
        found: list[Row] = []
        for number in self._links.get(links, NO_LINKS).get(row.get("id"), ()):
            link = row_at(self._database, links, number)
            named = [*rows_of(self._database, table, "id = ?", link.get(key))] if table in self._tables else []
            found += named or ([{}] if table == "attachments" else [])
            self.left_out[MISSING] += not named and table == "fragments"
        return found


def _links(database: sqlite3.Connection, table: str) -> Mapping[object, Sequence[int]]:
    columns = columns_of(database, table)
    if "response_id" not in columns:
        return NO_LINKS
    return numbers_by(database, table, "response_id", '"order", rowid' if "order" in columns else "rowid")


def _of_rows(
    place: str,
    table: str,
    source_id: str,
    rows: Sequence[Row],
    beside: _Beside,
    title: str | None,
    reading: ReadOptions,
) -> Sourced:
    beside.left_out = Counter()
    said: list[Message] = []
    systems: set[str] = set()
    times = [at for row in rows if (at := reading.moment(field_of(row, "datetime_utc", "timestamp")))]
    for row in rows:
        at = reading.moment(field_of(row, "datetime_utc", "timestamp"))
        own_system, own_prompt, answer = (text_of(row.get(column)) for column in ("system", "prompt", "response"))
        system = beside.with_fragments(own_system, row, "system_fragments", "\n\n")
        prompt = beside.with_fragments(own_prompt, row, "prompt_fragments", "\n")
        notices = beside.attachments(row)
        beside.count_tools(row)
        if system.strip() and not said:
            said.append(message("system", system))
        elif system.strip() and system not in systems:
            beside.left_out["later system texts"] += 1
        systems.add(system)
        if prompt.strip() or notices:
            content = prompt if prompt.strip() else "\n".join(f"({notice})" for notice in notices)
            said.append(message("user", content, at, notices=notices))
        if answer.strip():
            reasoning = text_of(field_of(row, "reasoning"))
            said.append(message("assistant", answer, at, reasoning=reasoning, **facts_of(row)))
    messages, unanswered = answered(said)
    # The number of a row is unique in its table only.
    unnamed = f"{table} {source_id}" if source_id.startswith("row ") else source_id
    return Sourced(
        id=unnamed,
        place=place,
        messages=messages,
        title=title,
        created_at=min(times, default=None),
        updated_at=max(times, default=None),
        unanswered=unanswered,
        left_out=beside.left_out,
    )


def _is_in_a_turn(database: sqlite3.Connection, row: Row, tables: set[str]) -> bool:
    # After an upgrade the tables stand side by side, and the same call may be in both.
    return "turns" in tables and "id" in row and any(rows_of(database, "turns", "id = ?", row["id"]))


def _title(database: sqlite3.Connection, source_id: str, tables: set[str]) -> str | None:
    found = list(rows_of(database, "conversations", "id = ?", source_id)) if "conversations" in tables else []
    return name_of(found[0].get("name")) if found else None
