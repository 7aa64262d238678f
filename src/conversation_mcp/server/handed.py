"""Contents that come with a call: a caller on another machine hands files over instead of naming paths."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any, cast

from conversation_mcp.errors import Argument, InvalidInputError

SENDING = ("files", "images")
NOTHING: tuple[object, ...] = (None, "", [])
NAME, TEXT, BASE64 = "name", "text", "base64"
MAX_NAME_CHARS = 500
WANTED = 'must be a list of {"name": "app.py", "text": "…"}, or with "base64" in place of "text"'
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {NAME: {"type": "string"}, TEXT: {"type": "string"}, BASE64: {"type": "string"}},
        "required": [NAME],
        "additionalProperties": False,
    },
}


def has_contents(arguments: Mapping[str, Any]) -> bool:
    """Tell whether there is anything to take."""
    return any(arguments.get(field) not in NOTHING for field in SENDING)


def take_contents(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the arguments with only the names of files and images, and the contents by these names.

    Raises:
        InvalidInputError: there is a path in place of a content, or something else is wrong with one.
    """
    left, contents = dict(arguments), dict[str, bytes]()
    for field in SENDING:
        given = left.get(field)
        if given in NOTHING:
            continue
        if not isinstance(given, list):
            raise _refusal(field, WANTED)
        names: list[str] = []
        for each in cast("list[Any]", given):
            name, content = _content(field, each)
            if name in contents:
                raise _refusal(field, f"must not hold two contents with the name {name!r}")
            contents[name] = content
            names.append(name)
        left[field] = names
    return left, contents


def handed_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments with contents in place of paths."""
    known: dict[str, Any] = schema["properties"]
    changed = {name: SCHEMA if name in SENDING else field for name, field in known.items()}
    if "description" in known.get("files", {}):
        changed["files"] = {"description": "Contents to send along, each as text or base64; sent once.", **SCHEMA}
    return {**schema, "properties": changed}


def _content(field: str, given: object) -> tuple[str, bytes]:
    if isinstance(given, str):
        raise _refusal(field, f"cannot be paths here, because they would be those of the server; it {WANTED}")
    if not isinstance(given, dict):
        raise _refusal(field, WANTED)
    entry = cast("dict[str, Any]", given)
    name, body = entry.get(NAME), [key for key in (TEXT, BASE64) if entry.get(key) is not None]
    if not isinstance(name, str) or len(body) != 1 or not _are_known(entry) or not isinstance(entry[body[0]], str):
        raise _refusal(field, WANTED)
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME_CHARS:
        raise _refusal(field, f"must have names of 1 to {MAX_NAME_CHARS} characters that can be printed")
    return name, _bytes(field, name, body[0], entry[body[0]])


def _bytes(field: str, name: str, kind: str, value: str) -> bytes:
    if kind == TEXT:
        return value.encode("utf-8", "replace")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise _refusal(field, f"has no valid base64 under {name!r}") from None


def _are_known(names: Iterable[str]) -> bool:
    return set(names) <= {NAME, TEXT, BASE64}


def _refusal(field: str, problem: str) -> InvalidInputError:
    return InvalidInputError(Argument(field), f" {problem}.")
