"""`logs.db` of simonw/llm: threads of version 0.36, and the tables of the versions before it."""

import json
import sqlite3
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conversation_mcp.importing.base import Found, ImportFormat, Item, LeftOut, Problem, Reading, SourceFile
from conversation_mcp.importing.messages import answered, joined, list_of, message, name_of, object_of, text_of
from conversation_mcp.importing.trees import path_to
from conversation_mcp.models import Message, Role, Usage

MAGIC = b"SQLite format 3\0"
BUSY_SECONDS = 5.0
ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
OLDEST = ("logs", "log")

Row = Mapping[str, Any]


def claims(file: SourceFile, entry: object) -> bool:
    """Tell whether the file is a database with one of llm's tables."""
    if entry is not None or file.path is None or not is_database(file):
        return False
    try:
        with _database(file.path) as database:
            return bool(_tables(database) & {"threads", "responses", *OLDEST})
    except sqlite3.Error:
        return True  # `read` says what is wrong with it


def is_database(file: SourceFile) -> bool:
    """Tell whether the file begins as an SQLite database does."""
    with file.open() as opened:
        return opened.read(len(MAGIC)) == MAGIC


def read(files: Sequence[SourceFile], reading: Reading) -> Iterator[Item]:
    """Yield the conversations of the newest tables, then those of older ones that are not among them."""
    for file in files:
        if file.path is None:
            yield Problem(file.name, "is a database in an archive; unpack it first")
            continue
        try:
            with _database(file.path) as database:
                yield from _conversations(file.name, database, reading)
        except (sqlite3.Error, OSError) as error:
            yield Problem(file.name, f"cannot be read as a database: {error}")
        reading.on_read(file.size)


@contextmanager
def _database(path: Path) -> Generator[sqlite3.Connection]:
    """Open the database so that nothing is written beside it; one that nobody writes needs no journal."""
    is_quiet = not any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal"))
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_quiet else ''}"
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


def _conversations(name: str, database: sqlite3.Connection, reading: Reading) -> Iterator[Item]:
    tables = _tables(database)
    threads: set[str] = set()
    if {"threads", "messages", "parts"} <= tables:
        links = database.execute("SELECT hash, parent_hash FROM messages")
        parents: dict[str, str | None] = {row["hash"]: row["parent_hash"] for row in links}
        for thread in _rows(database, "threads"):
            threads.add(str(thread.get("id")))
            yield _thread(name, database, thread, parents, tables, reading)
    if "responses" in tables:
        yield from _older(name, database, "responses", "conversation_id", threads, tables, reading)
    for table in OLDEST:
        if table in tables:
            yield from _older(name, database, table, "chat_id", threads, tables, reading)


def _thread(
    name: str,
    database: sqlite3.Connection,
    thread: Row,
    parents: Mapping[str, str | None],
    tables: set[str],
    reading: Reading,
) -> Item:
    source_id, tip = str(thread.get("id")), thread.get("tip_message_hash")
    place = f"{name}, thread {source_id}"
    path = path_to(tip, parents) if isinstance(tip, str) else ()
    if not path:
        return Problem(place, "has no messages")
    left_out: Counter[LeftOut] = Counter()
    turns = {
        str(turn.get("tip_message_hash")): turn
        for turn in (_rows(database, "turns", "thread_id = ?", source_id) if "turns" in tables else ())
    }
    said: list[Message] = []
    for each in path:
        said += _message(database, each, turns.get(each), tables, reading, left_out)
    messages, unanswered = answered(said)
    begun = reading.moment(thread.get("datetime_utc"))
    return Found(
        id=source_id,
        place=place,
        messages=messages,
        title=name_of(thread.get("name")),
        created_at=begun,
        updated_at=max(
            (at for turn in turns.values() if (at := reading.moment(turn.get("datetime_utc")))), default=begun
        ),
        unanswered=unanswered,
        left_out=left_out,
    )


def _message(
    database: sqlite3.Connection,
    key: str,
    turn: Row | None,
    tables: set[str],
    reading: Reading,
    left_out: Counter[LeftOut],
) -> Iterator[Message]:
    (found,) = _rows(database, "messages", "hash = ?", key)
    role = ROLES.get(str(found.get("role")))
    texts: list[str] = []
    reasoning: list[str] = []
    for part in _rows(database, "parts", "message_hash = ?", key, "position"):
        kind = part.get("type")
        text = text_of(part.get("text")) or _by_reference(database, part.get("payload"), tables)
        if kind == "text":
            texts.append(text)
        elif kind == "reasoning":
            reasoning.append(text)
        elif kind == "attachment":
            left_out["attachments"] += 1
        else:
            left_out["tool messages"] += 1
    content = joined(texts)
    if role is None or not content:
        return
    facts = _facts(turn) if turn is not None else {}
    at = reading.moment(turn.get("datetime_utc")) if turn is not None else None
    yield message(role, content, at, reasoning=joined(reasoning), **facts)


def _by_reference(database: sqlite3.Connection, payload: object, tables: set[str]) -> str:
    """Return a text that was put together of fragments, as far as they are there."""
    try:
        references = list_of(object_of(json.loads(text_of(payload) or "{}")).get("text_ref"))
    except (ValueError, RecursionError):
        return ""
    texts: list[str] = []
    for reference in map(object_of, references):
        texts.append(text_of(reference.get("literal")))
        if isinstance(number := reference.get("fragment"), int) and "fragments" in tables:
            texts += [text_of(row.get("content")) for row in _rows(database, "fragments", "id = ?", number)]
    return "".join(texts)


def _older(
    name: str,
    database: sqlite3.Connection,
    table: str,
    group: str,
    threads: set[str],
    tables: set[str],
    reading: Reading,
) -> Iterator[Item]:
    """Yield the conversations of a table that has a question and its answer in a row."""
    columns = _columns(database, table)
    group = group if group in columns else "NULL"
    order = "datetime_utc" if "datetime_utc" in columns else "timestamp" if "timestamp" in columns else "rowid"
    key = f"COALESCE({group}, 'row ' || rowid)"
    grouped = f"SELECT {key} AS key, MIN(rowid) FROM {table} GROUP BY 1 ORDER BY 2"  # noqa: S608 -- names of our own
    keys = [row["key"] for row in database.execute(grouped)]
    for value in keys:
        source_id = str(value)
        if source_id in threads:
            continue
        rows = [
            row
            for row in _rows(database, table, f"{key} = ?", value, f"{order}, rowid")
            if not _is_in_a_turn(database, row, tables)
        ]
        if rows:
            yield _of_rows(name, table, source_id, rows, _title(database, source_id, tables), reading)


def _of_rows(name: str, table: str, source_id: str, rows: Sequence[Row], title: str | None, reading: Reading) -> Found:
    said: list[Message] = []
    times = [at for row in rows if (at := reading.moment(_field(row, "datetime_utc", "timestamp")))]
    for row in rows:
        at = reading.moment(_field(row, "datetime_utc", "timestamp"))
        system, prompt, answer = (text_of(row.get(column)) for column in ("system", "prompt", "response"))
        if system.strip() and not said:
            said.append(message("system", system))
        if prompt.strip():
            said.append(message("user", prompt, at))
        if answer.strip():
            reasoning = text_of(_field(row, "reasoning"))
            said.append(message("assistant", answer, at, reasoning=reasoning, **_facts(row)))
    messages, unanswered = answered(said)
    unnamed = f"{table} {source_id}" if source_id.startswith("row ") else source_id
    return Found(
        id=unnamed,
        place=f"{name}, {table} {source_id}",
        messages=messages,
        title=title,
        created_at=min(times, default=None),
        updated_at=max(times, default=None),
        unanswered=unanswered,
    )


def _facts(row: Row) -> dict[str, object]:
    counts = {name: _field(row, name) for name in ("input_tokens", "output_tokens")}
    known = {name: count for name, count in counts.items() if isinstance(count, int)}
    model = name_of(_field(row, "resolved_model")) or name_of(_field(row, "model"))
    return {"model": model, "usage": Usage.told(**known)}


def _is_in_a_turn(database: sqlite3.Connection, row: Row, tables: set[str]) -> bool:
    return "turns" in tables and "id" in row and any(_rows(database, "turns", "id = ?", row["id"]))


def _title(database: sqlite3.Connection, source_id: str, tables: set[str]) -> str | None:
    found = list(_rows(database, "conversations", "id = ?", source_id)) if "conversations" in tables else []
    return name_of(found[0].get("name")) if found else None


def _field(row: Row, *names: str) -> Any:  # noqa: ANN401 -- a column of whatever type
    return next((row[name] for name in names if row.get(name) is not None), None)


def _tables(database: sqlite3.Connection) -> set[str]:
    return {row["name"] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    return {row["name"] for row in database.execute(f"PRAGMA table_info({table})")}


def _rows(
    database: sqlite3.Connection, table: str, where: str = "1", value: object = None, order: str = "rowid"
) -> Iterator[Row]:
    given = () if value is None else (value,)
    yield from database.execute(f"SELECT * FROM {table} WHERE {where} ORDER BY {order}", given)  # noqa: S608 -- names of our own


LLM = ImportFormat("llm", "logs.db of simonw/llm", claims, read)
