"""The reasons why a file is not a conversation, in words: with the place, but never with the content."""

import re
from collections.abc import Sequence
from itertools import islice

from pydantic import ValidationError

from conversation_mcp.errors.validation import requirement
from conversation_mcp.text import shorten

REPORTED_PLACE = re.compile(r" at line ([0-9]+) column ([0-9]+)\Z")
MAX_NAME_CHARS = 80
CAUSES = {
    "recursion limit exceeded": "is nested too deeply",
    "number out of range": "holds a number that is too long",
}
TIME = "must be a time such as 2026-01-31T12:00:00.000Z"


def problem_of(error: ValidationError) -> str:
    """Return what keeps the data of a file from being a conversation."""
    first = error.errors(include_url=False, include_input=False)[0]
    wanted = TIME if first["type"] == "value_error" else requirement(first, mapping="an object")
    return f"is not a conversation: {_name(first['loc'])} {wanted}"


def is_of_a_number(error: ValidationError) -> bool:
    """Tell whether a number in the data is not finite."""
    return any(one["type"] == "finite_number" for one in error.errors(include_url=False, include_input=False))


def problem_of_syntax(reason: str, body: bytes, skipped_bytes: int) -> str:
    """Return why the body of a file, which begins after `skipped_bytes`, is not JSON; `reason` is the parser's."""
    if not body or body.isspace():
        return "is empty"
    if not body.strip(b"\0"):
        return "holds nothing but NUL bytes"
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return f"is not UTF-8 {place(body, error.start, skipped_bytes)}"
    cause = next((words for sign, words in CAUSES.items() if sign in reason), "is not valid JSON")
    return f"{cause} {place(body, _offset(body, reason), skipped_bytes)}"


def place(body: bytes, offset: int, skipped_bytes: int) -> str:
    """Return the line, the column in characters and the byte of an offset, each counted from 1."""
    line = body.count(b"\n", 0, offset) + 1
    start = body.rfind(b"\n", 0, offset) + 1
    column = len(body[start:offset].decode(errors="replace")) + 1
    return f"at line {line:,}, column {column:,} (byte {skipped_bytes + offset + 1:,})"


def _offset(body: bytes, reason: str) -> int:
    """Return the offset of the place that the parser reports: a line, and a column in bytes from 1.

    Column 0 is the end of the line before.
    """
    found = REPORTED_PLACE.search(reason)
    if found is None or reason.startswith("EOF"):
        return len(body)
    line, column = map(int, found.groups())
    newlines = re.finditer(b"\n", body)
    last = next(islice(newlines, line - 2, None)).end() if line > 1 else 0
    return last + column - 1


def _name(location: Sequence[int | str]) -> str:
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in location]
    return shorten("".join(steps).removeprefix("."), MAX_NAME_CHARS) or "the document"
