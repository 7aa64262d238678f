"""Notebooks, tables and records as outlines, with the line numbers of the file, so that citations open there."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from conversation_mcp.documents.kinds.markdown import markdown
from conversation_mcp.documents.kinds.outline import BLANK, CODE, NEWLINE, TEXT, Heading, Mark, Outline
from conversation_mcp.text import shorten

MAX_COLUMNS_CHARS = 200
MAX_SEARCHED_LINES = 1_000_000
"""Limits the search for a cell's line in the file, which fails if the JSON is not spelled as programs write it."""
NO_COLUMNS = re.compile(r"#|\W?sep=.\W?\Z", re.IGNORECASE)
"""Lines of a table that are not rows: comments, and the declaration of its separator."""


def notebook(text: str, name: str) -> Outline:
    """Return the cells: prose with its headings, and code, but no output. Old versions keep them in worksheets.

    Raises:
        ValueError: it is not a notebook.
    """
    try:
        cells = list(_cells(json.loads(text)))
    except RecursionError as error:
        raise ValueError(name) from error
    places = _Places(NEWLINE.split(text))
    lines: list[str] = []
    marks: list[Mark] = []
    numbers: list[int] = []
    for cell in cells:
        lines += [*cell.lines, ""]
        marks += [*cell.marks, BLANK]
        numbers += [places.of(line) for line in cell.lines]
        numbers.append(numbers[-1])
    return Outline(
        lines, marks, numbers=numbers, title="" if any(isinstance(mark, Heading) for mark in marks) else name
    )


def _cells(notebook: object) -> Iterator[Outline]:
    found = _list(notebook, "cells") or [
        cell for sheet in _list(notebook, "worksheets") or () for cell in _list(sheet, "cells") or ()
    ]
    if not isinstance(notebook, dict) or not {"cells", "worksheets", "nbformat"} & notebook.keys():
        raise ValueError
    for cell in found:
        fields = cast("dict[str, object]", cell) if isinstance(cell, dict) else {}
        kind = fields.get("cell_type", "code")
        # Version 3 of the format calls the code of a cell `input`.
        source = next((_source(fields[key]) for key in ("source", "input") if fields.get(key)), "")
        if kind == "heading":
            yield _heading(source, fields.get("level"))
        else:
            yield markdown(source) if kind in {"markdown", "html"} else _code(source)


def _list(value: object, key: str) -> list[object] | None:
    found = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    return cast("list[object]", found) if isinstance(found, list) else None


def table(text: str, name: str) -> Outline:
    """Return the rows under the names of the columns, which are the first row."""
    lines = NEWLINE.split(text)
    first = next((number for number, line in enumerate(lines) if line.strip() and not NO_COLUMNS.match(line)), 0)
    columns = shorten(lines[first].replace("\t", ", "), MAX_COLUMNS_CHARS)
    marks: list[Mark] = [TEXT if line.strip() else BLANK for line in lines]
    if any(mark == TEXT for mark in marks[first + 1 :]):
        marks[first] = Heading(1, columns)
    return Outline(lines, marks, title=name)


def records(text: str, name: str) -> Outline:
    """Return the records, one per line, with escaped letters decoded."""
    lines = [_readable(line) if "\\u" in line else line for line in NEWLINE.split(text)]
    return Outline(lines, [TEXT if line.strip() else BLANK for line in lines], title=name)


class _Places:
    """Finds the lines of cells in the JSON of the file, where they are in the same order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self._left = MAX_SEARCHED_LINES

    def of(self, line: str) -> int:
        if line.strip():
            # Some programs escape letters beyond ASCII, others do not.
            spelled = {json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]}
            self._at = next(self._with(spelled), self._at)
        return self._at + 1

    def _with(self, spelled: set[str]) -> Iterator[int]:
        for number in range(self._at, min(len(self._lines), self._at + self._left)):
            self._left -= 1
            if any(text in self._lines[number] for text in spelled):
                yield number


def _source(source: object) -> str:
    return "".join(map(str, cast("list[object]", source))) if isinstance(source, list) else str(source)


def _heading(source: str, level: object) -> Outline:
    text, *others = NEWLINE.split(source.strip())
    heading = Heading(level if isinstance(level, int) and level > 0 else 1, text.strip())
    return Outline([text, *others], [heading, *(TEXT if line.strip() else BLANK for line in others)])


def _code(source: str) -> Outline:
    lines = NEWLINE.split(source)
    return Outline(lines, [CODE if line.strip() else BLANK for line in lines])


def _readable(line: str) -> str:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return json.dumps(data, ensure_ascii=False)
