"""Read-only access to the database of simonw/llm."""

import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conversation_mcp.importing.base import SourceFile
from conversation_mcp.importing.messages import name_of
from conversation_mcp.records.usage import Usage

MAGIC = b"SQLite format 3\0"
BUSY_SECONDS = 5.0

Row = Mapping[str, Any]


def is_database(file: SourceFile) -> bool:
    """Tell whether the file begins like an SQLite database."""
    with file.open() as opened:
        return opened.read(len(MAGIC)) == MAGIC


@contextmanager
def database_at(path: Path) -> Generator[sqlite3.Connection]:
    """Open the database without creating files beside it; one that no process writes needs no journal."""
    is_quiet = not any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal"))
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_quiet else ''}"
    # The importer asks for the rows from several threads, one after the other.
    database = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
    database.row_factory = _as_mapping
    database.text_factory = _as_text
    try:
        yield database
    finally:
        database.close()


def _as_mapping(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> Row:
    return dict(zip((column[0] for column in cursor.description), values, strict=True))


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def facts_of(row: Row) -> dict[str, object]:
    """Return the model and the tokens of an answer."""
    counts = {name: field_of(row, name) for name in ("input_tokens", "output_tokens")}
    known = {name: count for name, count in counts.items() if isinstance(count, int)}
    model = name_of(field_of(row, "resolved_model")) or name_of(field_of(row, "model"))
    return {"model": model, "usage": Usage.told(**known)}


def field_of(row: Row, *names: str) -> Any:  # noqa: ANN401 -- a column of whatever type
    """Return the first of these columns that the row has."""
    return next((row[name] for name in names if row.get(name) is not None), None)


def tables_of(database: sqlite3.Connection) -> set[str]:
    """Return the names of the tables."""
    return {row["name"] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def columns_of(database: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of the columns."""
    return {row["name"] for row in database.execute(f"PRAGMA table_info({table})")}


def rows_of(
    database: sqlite3.Connection, table: str, where: str = "1", value: object = None, order: str = "rowid"
) -> Iterator[Row]:
    """Yield rows of a table. Only `value` may come from the database; `where` and `order` are part of the statement."""
    given = () if value is None else (value,)
    yield from database.execute(f"SELECT * FROM {table} WHERE {where} ORDER BY {order}", given)  # noqa: S608 -- names of our own


def row_at(database: sqlite3.Connection, table: str, rowid: int) -> Row:
    """Return the row with that number."""
    (row,) = rows_of(database, table, "rowid = ?", rowid)
    return row


def numbers_by(database: sqlite3.Connection, table: str, column: str, order: str = "rowid") -> dict[Any, list[int]]:
    """Return the numbers of the rows by the value of a column, in one pass that needs no index on the table."""
    numbers: dict[Any, list[int]] = {}
    for row in database.execute(f"SELECT {column} AS value, rowid AS number FROM {table} ORDER BY {order}"):  # noqa: S608 -- names of our own
        numbers.setdefault(row["value"], []).append(row["number"])
    return numbers
