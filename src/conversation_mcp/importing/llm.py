"""`logs.db` of simonw/llm: threads of version 0.36, and the tables of the versions before it."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from conversation_mcp.importing.base import Found, ImportFormat, Item, LeftOut, Problem, Reading, SourceFile
from conversation_mcp.importing.llm_database import Row, database_at, facts_of, is_database, rows_of, tables_of
from conversation_mcp.importing.llm_responses import MISSING, older
from conversation_mcp.importing.messages import (
    Data,
    answered,
    count_named,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    text_of,
)
from conversation_mcp.importing.trees import path_to
from conversation_mcp.models import Message, Role

ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
TOOL_PARTS = frozenset({"tool_call", "tool_result"})
OLDEST = ("logs", "log")


def claims(file: SourceFile, entry: object) -> bool:
    """Tell whether the file is a database with one of llm's tables."""
    if entry is not None or file.path is None or not is_database(file):
        return False
    try:
        with database_at(file.path) as database:
            return bool(tables_of(database) & {"threads", "responses", *OLDEST})
    except sqlite3.Error:
        return True  # `read` says what is wrong with it


def read(files: Sequence[SourceFile], reading: Reading) -> Iterator[Item]:
    """Yield the conversations of the newest tables, then those of older ones that are not among them."""
    for file in files:
        if file.path is None:
            yield Problem(file.name, "is a database in an archive; unpack it first")
            continue
        try:
            with database_at(file.path) as database:
                yield from _conversations(file.name, database, reading)
        except (sqlite3.Error, OSError) as error:
            yield Problem(file.name, f"cannot be read as a database: {error}")
        reading.on_read(file.size)


def _conversations(name: str, database: sqlite3.Connection, reading: Reading) -> Iterator[Item]:
    tables = tables_of(database)
    threads: set[str] = set()
    if {"threads", "messages", "parts"} <= tables:
        links = database.execute("SELECT hash, parent_hash FROM messages")
        parents: dict[str, str | None] = {row["hash"]: row["parent_hash"] for row in links}
        for thread in rows_of(database, "threads"):
            threads.add(str(thread.get("id")))
            yield _thread(name, database, thread, parents, tables, reading)
    if "responses" in tables:
        yield from older(name, database, "responses", "conversation_id", threads, tables, reading)
    for table in OLDEST:
        if table in tables:
            yield from older(name, database, table, "chat_id", threads, tables, reading)


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
        for turn in (rows_of(database, "turns", "thread_id = ?", source_id) if "turns" in tables else ())
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
    (found,) = rows_of(database, "messages", "hash = ?", key)
    role = ROLES.get(str(found.get("role")))
    texts: list[str] = []
    reasoning: list[str] = []
    attached: list[str] = []
    for part in rows_of(database, "parts", "message_hash = ?", key, "position"):
        kind = part.get("type")
        payload = _payload(part)
        text = text_of(part.get("text")) or _by_reference(database, payload, tables, left_out)
        if kind == "text":
            texts.append(text)
        elif kind == "reasoning":
            reasoning.append(text)
        elif kind == "attachment":
            names = (name_of(payload.get(field)) for field in ("path", "url", "type"))
            attached.append(next((each for each in names if each), "a file without a name"))
        elif kind in TOOL_PARTS:
            left_out["tool messages"] += 1
        else:
            count_named(kind, {"text": text, "payload": payload}, left_out)
    notices = missing(attached, left_out)
    content = joined(texts) or "\n".join(f"({notice})" for notice in notices)
    if role is None:
        count_named(found.get("role"), {"text": content}, left_out)
    if role is None or not content:
        return
    facts = facts_of(turn) if turn is not None else {}
    at = reading.moment(turn.get("datetime_utc")) if turn is not None else None
    yield message(role, content, at, notices=notices, reasoning=joined(reasoning), **facts)


def _payload(part: Row) -> Data:
    try:
        return object_of(json.loads(text_of(part.get("payload")) or "{}"))
    except (ValueError, RecursionError):
        return {}


def _by_reference(database: sqlite3.Connection, payload: Data, tables: set[str], left_out: Counter[LeftOut]) -> str:
    """Return a text that was put together of fragments, as far as they are there."""
    texts: list[str] = []
    for reference in map(object_of, list_of(payload.get("text_ref"))):
        texts.append(text_of(reference.get("literal")))
        if isinstance(number := reference.get("fragment"), int):
            rows = [*rows_of(database, "fragments", "id = ?", number)] if "fragments" in tables else []
            texts += [text_of(row.get("content")) for row in rows]
            left_out[MISSING] += not rows
    return "".join(texts)


LLM = ImportFormat("llm", "logs.db of simonw/llm", claims, read)
