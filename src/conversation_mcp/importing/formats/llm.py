"""`logs.db` of simonw/llm: the threads of version 0.36, and the tables of earlier versions."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence

from conversation_mcp.importing.base import (
    ImportFormat,
    ImportProblem,
    Item,
    LeftOut,
    ReadOptions,
    Sourced,
    SourceFile,
    Unplaced,
)
from conversation_mcp.importing.formats.llm_database import (
    Row,
    database_at,
    facts_of,
    is_database,
    numbers_by,
    row_at,
    rows_of,
    tables_of,
)
from conversation_mcp.importing.formats.llm_responses import MISSING, older
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
from conversation_mcp.records.models import Message, Role

ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
TOOL_PARTS = frozenset({"tool_call", "tool_result"})
NO_THREAD = "messages of no thread"
OLDEST = ("logs", "log")


def claims(file: SourceFile, entry: object) -> bool:
    """Tell whether the file is a database with one of llm's tables."""
    if entry is not None or file.path is None or not is_database(file):
        return False
    try:
        with database_at(file.path) as database:
            return bool(tables_of(database) & {"threads", "responses", *OLDEST})
    except sqlite3.Error:
        return True  # `read` reports the problem


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the conversations of the newest tables, then those that are only in older ones."""
    for file in files:
        if file.path is None:
            yield ImportProblem(file.name, "is a database in an archive; unpack it first")
            continue
        try:
            with database_at(file.path) as database:
                yield from _conversations(file.name, database, reading)
        except (sqlite3.Error, OSError) as error:
            yield ImportProblem(file.name, f"cannot be read as a database: {error}")
        reading.on_read(file.size)


def _conversations(name: str, database: sqlite3.Connection, reading: ReadOptions) -> Iterator[Item]:
    tables = tables_of(database)
    threads: dict[str, set[int]] = {}
    if {"threads", "messages", "parts"} <= tables:
        thread_tables = _Threads(name, database, tables, reading)
        for thread in rows_of(database, "threads"):
            found = thread_tables.found(thread)
            said = found.messages if isinstance(found, Sourced) else ()
            # Hashes, because the texts of all threads may not fit into memory.
            threads[str(thread.get("id"))] = {hash(each.content) for each in said}
            yield found
        if unreached := thread_tables.unreached():
            yield Unplaced(unreached)
    if "responses" in tables:
        yield from older(name, database, "responses", "conversation_id", threads, tables, reading)
    for table in OLDEST:
        if table in tables:
            yield from older(name, database, table, "chat_id", threads, tables, reading)


class _Threads:
    """The tables of threads, each of which is read once."""

    def __init__(self, name: str, database: sqlite3.Connection, tables: set[str], reading: ReadOptions) -> None:
        self._name = name
        self._database = database
        self._tables = tables
        self._reading = reading
        links = database.execute("SELECT hash, parent_hash FROM messages")
        self._parents: dict[str, str | None] = {row["hash"]: row["parent_hash"] for row in links}
        self._parts = numbers_by(database, "parts", "message_hash", "position, rowid")
        self._turns = numbers_by(database, "turns", "thread_id") if "turns" in tables else {}
        self._reached: set[str] = set()

    def found(self, thread: Row) -> Sourced | ImportProblem:
        """Return the conversation of a thread."""
        source_id, tip = str(thread.get("id")), thread.get("tip_message_hash")
        place = f"{self._name}, thread {source_id}"
        path = path_to(tip, self._parents) if isinstance(tip, str) else ()
        if not path:
            return ImportProblem(place, "has no messages")
        self._reached.update(path)
        left_out: Counter[LeftOut] = Counter()
        rows = [row_at(self._database, "turns", number) for number in self._turns.get(thread.get("id"), ())]
        # A turn ends with the answer, to which its model and tokens belong.
        turns = {str(turn.get("tip_message_hash")): turn for turn in rows}
        messages, unanswered = answered(
            [made for each in path for made in self._message(each, turns.get(each), left_out)]
        )
        begun = self._reading.moment(thread.get("datetime_utc"))
        times = (at for turn in rows if (at := self._reading.moment(turn.get("datetime_utc"))))
        return Sourced(
            id=source_id,
            place=place,
            messages=messages,
            title=name_of(thread.get("name")),
            created_at=begun,
            updated_at=max(times, default=begun),
            unanswered=unanswered,
            left_out=left_out,
        )

    def unreached(self) -> Counter[LeftOut]:
        """Count the messages with words that are in no thread."""
        others = (key for key in self._parents if key not in self._reached)
        count = sum(any(self._message(key, None, Counter())) for key in others)
        return Counter({NO_THREAD: count} if count else {})

    def _message(self, key: str, turn: Row | None, left_out: Counter[LeftOut]) -> Iterator[Message]:
        (found,) = rows_of(self._database, "messages", "hash = ?", key)
        role = ROLES.get(str(found.get("role")))
        texts: list[str] = []
        reasoning: list[str] = []
        attached: list[str] = []
        for part in (row_at(self._database, "parts", number) for number in self._parts.get(key, ())):
            kind = part.get("type")
            payload = _payload(part)
            text = text_of(part.get("text")) or _by_reference(self._database, payload, self._tables, left_out)
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
        at = self._reading.moment(turn.get("datetime_utc")) if turn is not None else None
        yield message(role, content, at, notices=notices, reasoning=joined(reasoning), **facts)


def _payload(part: Row) -> Data:
    try:
        return object_of(json.loads(text_of(part.get("payload")) or "{}"))
    except (ValueError, RecursionError):
        return {}


def _by_reference(database: sqlite3.Connection, payload: Data, tables: set[str], left_out: Counter[LeftOut]) -> str:
    """Return a text that was composed of fragments, without missing ones."""
    texts: list[str] = []
    for reference in map(object_of, list_of(payload.get("text_ref"))):
        texts.append(text_of(reference.get("literal")))
        if isinstance(number := reference.get("fragment"), int):
            rows = [*rows_of(database, "fragments", "id = ?", number)] if "fragments" in tables else []
            texts += [text_of(row.get("content")) for row in rows]
            left_out[MISSING] += not rows
    return "".join(texts)


LLM = ImportFormat("llm", "logs.db of simonw/llm", claims, read)
