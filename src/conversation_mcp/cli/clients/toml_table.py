"""Edits of one table of a TOML text that leave the rest as it is, comments included."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from conversation_mcp.cli.configuration.toml_text import toml_key, toml_value

UNSAFE = "it is written in a way that cannot be changed safely"
LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class _Statement:
    """A header, or a key with its value; `path` is its key, and `start` and `end` are its lines."""

    path: tuple[str, ...]
    start: int
    end: int
    is_header: bool


@dataclass(frozen=True)
class _TomlTable:
    """A table under a header of its own."""

    path: tuple[str, ...]
    members: tuple[_Statement, ...]
    end: int
    """The line after its last member."""


class _Lines:
    """The lines of a text, and the pending changes to them."""

    def __init__(self, text: str) -> None:
        self._lines: list[str] = LINE.findall(text)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._changes: list[tuple[int, int, list[str]]] = []

    def replace(self, start: int, end: int, *statements: str) -> None:
        """Replace the lines with the statements, indented alike; without lines, insert before `start`."""
        first = self._lines[start] if end > start else ""
        indent = first[: len(first) - len(first.lstrip())]
        self._changes.append((start, end, [f"{indent}{statement}{self._newline}" for statement in statements]))

    def changed(self) -> str:
        lines = list(self._lines)
        # From the end, so that the numbers of earlier lines stay right.
        for start, end, new in sorted(self._changes, key=lambda change: change[:2], reverse=True):
            if new and start > 0 and not lines[start - 1].endswith("\n"):
                lines[start - 1] += self._newline
            lines[start:end] = new
        return "".join(lines)

    def tables(self) -> list[_TomlTable]:
        found: list[_TomlTable] = []
        path, members, end = (), list[_Statement](), 0
        for statement in self._statements():
            if statement.is_header:
                found.append(_TomlTable(path, tuple(members), end))
                path, members = statement.path, []
            else:
                members.append(statement)
            end = statement.end
        return [*found, _TomlTable(path, tuple(members), end)]

    def _statements(self) -> Iterator[_Statement]:
        at = 0
        while at < len(self._lines):
            start, first = at, self._lines[at].strip()
            at += 1
            if first and not first.startswith("#"):
                # A value may span lines: take more of them until they parse.
                while (data := _parsed("".join(self._lines[start:at]))) is None:
                    if at >= len(self._lines):
                        raise ValueError(UNSAFE)
                    at += 1
                yield _Statement(_path(data, first), start, at, first.startswith("["))


def with_values(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """Return the text, which is valid TOML, with exactly these values in the table at `path`.

    Raises:
        ValueError: the table has no header of its own, or cannot be changed without a risk to the rest.
    """
    lines = _Lines(text)
    tables = {table.path: table for table in lines.tables()}
    before: Any = tomllib.loads(text)
    for name in path:
        before = before[name]
    _set(lines, tables, tuple(path), before, values)
    changed = lines.changed()
    if _parsed(changed) != _nested(tomllib.loads(text), path, values):
        raise ValueError(UNSAFE)
    return changed


def _set(
    lines: _Lines,
    tables: Mapping[tuple[str, ...], _TomlTable],
    path: tuple[str, ...],
    before: Mapping[str, Any],
    values: Mapping[str, Any],
) -> None:
    table = tables.get(path)
    if table is None:  # an inline table or dotted keys: not edited, which the comparison in `with_values` refuses
        return
    added: list[str] = []
    for name in dict.fromkeys((*before, *values)):
        if name in before and name in values and before[name] == values[name]:
            continue
        own = (*path, name)
        if own in tables and name in values:
            _set(lines, tables, own, before[name], values[name])
            continue
        new = [f"{toml_key(name)} = {toml_value(values[name])}"] if name in values else []
        # Several of them if the value is written with dotted keys.
        there = [member for member in table.members if member.path[0] == name]
        for member in there:
            lines.replace(member.start, member.end, *(new if member is there[0] else ()))
        if not there:
            added += new
    if added:
        lines.replace(table.end, table.end, *added)


def _nested(data: Mapping[str, Any], path: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
    first, *rest = path
    inner = cast("Mapping[str, Any]", data[first])
    return {**data, first: _nested(inner, rest, values) if rest else dict(values)}


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _path(data: object, first: str) -> tuple[str, ...]:
    """Return the key of a statement; arrays of tables get a marker, so that none is taken for a table."""
    names: list[str] = ["[[]]"] if first.startswith("[[") else []
    while isinstance(data, dict) and len(cast("dict[str, Any]", data)) == 1:
        [(name, data)] = cast("dict[str, Any]", data).items()
        names.append(name)
    return tuple(names)
