"""The lines of a TOML text at which its fields stand, so that errors can name them."""

import re
from collections.abc import Iterator, Sequence

Path = tuple[str | int, ...]
HEADER = re.compile(r"\s*\[(?P<list>\[)?\s*(?P<name>[A-Za-z0-9_.-]+)\s*\]")
KEY = re.compile(r"""\s*(?P<key>[A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*[.=]""")
MARKS = ('"""', "'" * 3)


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the number of the line of a field, or of the nearest one around it; 1 if there is none."""
    best, deepest = 1, 0
    for number, found in _fields(text):
        if len(found) > deepest and tuple(path[: len(found)]) == found:
            best, deepest = number, len(found)
    return best


def _fields(text: str) -> Iterator[tuple[int, Path]]:
    """Yield each header and key with its line; an array of tables has an index for each header."""
    table: Path = ()
    counts: dict[Path, int] = {}
    inside = ""
    for number, line in enumerate(text.split("\n"), 1):
        if inside:
            inside = "" if inside in line else inside
            continue
        if header := HEADER.match(line):
            table = _table(header["name"].split("."), counts, is_list=bool(header["list"]))
            yield number, table
        elif key := KEY.match(line):
            yield number, (*table, key["key"].strip("\"'"))
        inside = next((mark for mark in MARKS if line.count(mark) % 2), "")


def _table(names: Sequence[str], counts: dict[Path, int], *, is_list: bool) -> Path:
    path: Path = ()
    for place, name in enumerate(names):
        path = (*path, name)
        if is_list and place == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path
