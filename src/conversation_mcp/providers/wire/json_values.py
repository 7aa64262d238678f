"""Readers for JSON from outside: a value of an unexpected type counts as absent."""

import json
import math
import re
from collections.abc import Mapping
from typing import cast

from conversation_mcp.text import shorten, storable

JsonObject = Mapping[str, object]
MARKUP = re.compile(r"<[a-z!/?]", re.IGNORECASE)
WORDS = re.compile(r"\w[^{\[]{0,40}\s\S")
NOTHING: JsonObject = {}
MAX_NAME_CHARS = 200
MAX_MARKS = 600_000
"""The most values in JSON; each takes far more memory than its characters."""


def parse_object(data: str | bytes) -> JsonObject | None:
    """Return the JSON object in the data, or None if there is none."""
    value = _parsed(data)
    return cast("JsonObject", value) if isinstance(value, dict) else None


def plain_text(data: bytes) -> str:
    """Return the data if it is words rather than markup, damaged JSON or empty; else an empty text."""
    try:
        text = data.decode().strip()
    except UnicodeDecodeError:
        return ""
    return text if WORDS.match(text) and not MARKUP.search(text) else ""


def parse_first_object(data: str | bytes) -> JsonObject | None:
    """Return the JSON object in the data, or the first of a list, in which one provider wraps its errors."""
    value = _parsed(data)
    if isinstance(value, list) and value:
        value = cast("list[object]", value)[0]
    return cast("JsonObject", value) if isinstance(value, dict) else None


def _parsed(data: str | bytes) -> object:
    if len(data) > MAX_MARKS and _marks(data) > MAX_MARKS:
        return None
    try:
        return json.loads(data)
    except UnicodeDecodeError:
        return _parsed(cast("bytes", data).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _marks(data: str | bytes) -> int:
    if isinstance(data, str):
        return sum(map(data.count, ",[{"))
    return sum(map(data.count, (b",", b"[", b"{")))


def object_at(parent: JsonObject, name: str) -> JsonObject:
    """Return the object of this name; empty if there is none."""
    value = parent.get(name)
    return cast("JsonObject", value) if isinstance(value, dict) else NOTHING


def items_at(parent: JsonObject, name: str) -> list[object]:
    """Return the list of this name; empty if there is none."""
    value = parent.get(name)
    return cast("list[object]", value) if isinstance(value, list) else []


def objects_at(parent: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects in the list of this name."""
    return [cast("JsonObject", item) for item in items_at(parent, name) if isinstance(item, dict)]


def raw_text_at(parent: JsonObject, name: str) -> str:
    """Return the string of this name as it came, even with half a surrogate pair; empty if there is none."""
    value = parent.get(name)
    return value if isinstance(value, str) else ""


def text_at(parent: JsonObject, name: str) -> str:
    """Return the string of this name, storable; empty if there is none."""
    return storable(raw_text_at(parent, name))


def name_at(parent: JsonObject, name: str) -> str:
    """Return the string of this name as one printable line of limited length."""
    return shorten("".join(char if char.isprintable() else " " for char in text_at(parent, name)), MAX_NAME_CHARS)


def number_at(parent: JsonObject, name: str) -> float | None:
    """Return the finite number of this name."""
    value = parent.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


def count_at(parent: JsonObject, name: str) -> int | None:
    """Return the whole number of this name."""
    value = number_at(parent, name)
    return None if value is None else int(value)
