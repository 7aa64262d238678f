"""The audit trail: who exported, deleted or looked at whose conversations, in lines chained by their hashes."""

import getpass
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.ids import SHAPE

FIRST = "0" * 64
"""Stands for the hash of the line before the first one."""


class AuditEvent(NamedTuple):
    """What somebody did with the conversations of an owner; ids, and never what they hold."""

    actor: str
    """Who did it: the account of the command line or of the server on stdio, or the name of a token."""
    via: str
    """By which way: `command line`, `stdio`, `http`, or `server` for what it does by itself."""
    owner: str
    action: str
    targets: Sequence[str] = ()
    up_to: str | None = None
    """Of a cut, which takes the oldest lines away: the hash of the last one of them."""


class AuditLine(NamedTuple):
    """A line as it was found."""

    number: int
    data: dict[str, Any]
    """Its fields; none if it cannot be read."""
    problem: str | None = None
    """Why the chain is broken here."""


def account() -> str:
    """Return the name of the account that runs the program."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"


def ids_in(values: Iterable[object]) -> list[str]:
    """Return those of the values, and of lists among them, that are ids of conversations; never any other text."""
    found: list[str] = []
    for value in values:
        each: Iterable[object] = cast("Iterable[object]", value) if isinstance(value, (list, tuple)) else (value,)
        found += [text for text in each if isinstance(text, str) and SHAPE.fullmatch(text)]
    return found


def line_after(previous: bytes | None, event: AuditEvent, time: str) -> bytes:
    """Return the next line, without its end, which names the hash of the one before it."""
    fields = {
        "time": time,
        "actor": event.actor,
        "via": event.via,
        "owner": event.owner,
        "action": event.action,
        "targets": list(event.targets),
        **({"upTo": event.up_to} if event.up_to else {}),
        "previous": FIRST if previous is None else hash_of(previous),
    }
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


def checked(lines: Iterable[bytes]) -> Iterator[AuditLine]:
    """Yield the lines, each with the place where the chain is broken, if it is.

    The first one follows no line, or the last one that a line of the trail says was cut.
    """
    all_lines = [*lines]
    datas = [_data(line) for line in all_lines]
    expected = {FIRST, *(str(data["upTo"]) for data in datas if data and "upTo" in data)}
    for number, (line, data) in enumerate(zip(all_lines, datas, strict=True), 1):
        problem = None
        if data is None:
            problem = "is not a line of an audit trail"
        elif data.get("previous") not in expected:
            problem = "does not follow the line before it, which was changed, or one between them was removed"
        yield AuditLine(number, data or {}, problem)
        expected = {hash_of(line)}


def _data(line: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", data) if isinstance(data, dict) else None
