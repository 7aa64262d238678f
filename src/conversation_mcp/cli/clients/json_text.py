"""Edits of one member of a JSON text that leave every other byte as it is."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

SPACE = re.compile(r"[ \t\r\n]*")
LINE_START = re.compile(r"\n([ \t]*)\Z")
DECODER = json.JSONDecoder()
UNIT = "  "


@dataclass(frozen=True)
class _Member:
    name: str
    start: int
    value_start: int
    end: int


@dataclass(frozen=True)
class _Object:
    """An object in a text: the positions of its braces, and its members."""

    text: str
    start: int
    members: tuple[_Member, ...]
    close: int

    def find(self, name: str) -> _Member | None:
        # The last of several with the same name, which is the one that JSON parsers keep.
        return next((member for member in reversed(self.members) if member.name == name), None)

    def indent(self) -> str | None:
        """Return the indentation of the members; None if they share a line, or there are none."""
        found = LINE_START.search(self.text, 0, self.members[0].start) if self.members else None
        return found.group(1) if found else None


def with_member(text: str, path: tuple[str, str], value: Mapping[str, Any]) -> str:
    """Return the text with the value at `path`: a name in a top-level object, which is added if it is missing.

    Raises:
        ValueError: the text is not a JSON object, has comments, or has something else at that place.
    """
    if not text.strip():
        return json.dumps({path[0]: {path[1]: value}}, indent=2, ensure_ascii=False) + "\n"
    outer, inner = path
    there = members_of(text, outer)
    wanted = {**json.loads(text), outer: {**there, inner: value}}
    top = _object(text, _after_space(text, 0))
    member = top.find(outer)
    if member is None:
        changed = _put(top, outer, {inner: value}, top.indent() or UNIT)
    else:
        changed = _put(_object(text, member.value_start), inner, value, top.indent() or UNIT)
    if json.loads(changed) != wanted:  # whatever the editing misread shows here, before anything is written
        message = "it is written in a way that cannot be changed safely"
        raise ValueError(message)
    return changed


def members_of(text: str, name: str) -> dict[str, Any]:
    """Return the members of the top-level object of that name, or none if it is missing; raise ValueError otherwise."""
    data: object = json.loads(text) if text.strip() else {}
    there: object = cast("dict[str, object]", data).get(name, {}) if isinstance(data, dict) else None
    if isinstance(there, dict):
        return cast("dict[str, Any]", there)
    message = f"{name!r} in it is not an object"
    raise ValueError(message)


def _object(text: str, start: int) -> _Object:
    # The text was parsed before and is valid, so only positions are looked for.
    members: list[_Member] = []
    at = _after_space(text, start + 1)
    while text[at] == '"':
        name, name_end = DECODER.raw_decode(text, at)
        value_start = _after_space(text, _after_space(text, name_end) + 1)
        _, end = DECODER.raw_decode(text, value_start)
        members.append(_Member(name, at, value_start, end))
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return _Object(text, start, tuple(members), at)


def _after_space(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at


def _put(target: _Object, name: str, value: Mapping[str, Any], unit: str) -> str:
    text = target.text
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = target.indent()
    if member := target.find(name):
        return text[: member.value_start] + _dumped(value, indent or "", unit, newline) + text[member.end :]
    if target.members:  # written like its neighbours, on a line of its own or on theirs
        before = f",{newline}{indent}" if indent is not None else ", "
        end = target.members[-1].end
        written = _dumped(value, indent, unit, newline) if indent is not None else json.dumps(value, ensure_ascii=False)
        return f"{text[:end]}{before}{json.dumps(name)}: {written}{text[end:]}"
    outer = _line_indent(text, target.start)
    written = _dumped(value, outer + unit, unit, newline)
    inside = f"{newline}{outer}{unit}{json.dumps(name)}: {written}{newline}{outer}"
    return f"{text[: target.start + 1]}{inside}{text[target.close :]}"


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _dumped(value: Mapping[str, Any], indent: str, unit: str, newline: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"{newline}{indent}")
