"""Reading JSON that somebody else wrote: what is not of the expected kind is absent."""

import json
import math
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import cast

from conversation_mcp.text import shorten, storable

JsonObject = Mapping[str, object]
NOTHING: JsonObject = {}
MAX_NAME_CHARS = 200
MAX_BODY_BYTES = 128 * 2**20
"""Far more than the stream of the longest answer has."""


class BodyTooLargeError(ValueError):
    """A response has no end, or is larger than anything that is sent on purpose."""


async def bounded(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces of a response; raises BodyTooLargeError before they fill the memory."""
    size_bytes = 0
    async for chunk in chunks:
        size_bytes += len(chunk)
        if size_bytes > MAX_BODY_BYTES:
            message = f"a response is larger than {MAX_BODY_BYTES} bytes"
            raise BodyTooLargeError(message)
        yield chunk


def parse_object(data: str | bytes) -> JsonObject | None:
    """Return the JSON object in the data, or None when there is none."""
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None


def object_at(parent: JsonObject, name: str) -> JsonObject:
    """Return the object of this name; empty when there is none."""
    value = parent.get(name)
    return cast("JsonObject", value) if isinstance(value, dict) else NOTHING


def items_at(parent: JsonObject, name: str) -> list[object]:
    """Return the list of this name; empty when there is none."""
    value = parent.get(name)
    return cast("list[object]", value) if isinstance(value, list) else []


def objects_at(parent: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects of the list of this name."""
    return [cast("JsonObject", item) for item in items_at(parent, name) if isinstance(item, dict)]


def raw_text_at(parent: JsonObject, name: str) -> str:
    """Return the string of this name as it came, half surrogate pairs included; empty when there is none."""
    value = parent.get(name)
    return value if isinstance(value, str) else ""


def text_at(parent: JsonObject, name: str) -> str:
    """Return the string of this name, storable; empty when there is none."""
    return storable(raw_text_at(parent, name))


def name_at(parent: JsonObject, name: str) -> str:
    """Return the string of this name as one line that can be shown, no longer than names are."""
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


def parse_first_object(data: str | bytes) -> JsonObject | None:
    """Return the JSON object in the data, or the first of a list of them, which is how one provider tells errors."""
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and value:
        value = cast("list[object]", value)[0]
    return cast("JsonObject", value) if isinstance(value, dict) else None
