"""The original names of files, which ChatGPT's export names by their ids."""

import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import PurePosixPath

from conversation_mcp.importing.base import ImportProblem, SourceFile
from conversation_mcp.importing.entries import UNREADABLE, parsed
from conversation_mcp.importing.messages import name_of, object_of

NAMES_FILE = "conversation_asset_file_names.json"
MAX_BYTES = 64 * 1024 * 1024
ID = re.compile(r"file[-_][A-Za-z0-9]+")
NAME_FIELDS = ("file_name", "filename", "name")

AssetNames = Mapping[str, str]
"""By id."""


def asset_names(files: Iterable[SourceFile]) -> AssetNames:
    """Return the names of the files that the export lists, skipping entries that cannot be read."""
    names: dict[str, str] = {}
    for file in files:
        if PurePosixPath(file.name).name == NAMES_FILE:
            for key, value in _listed(file).items():
                facts = object_of(value)
                told = (value, *(facts.get(field) for field in NAME_FIELDS))
                if name := next((name for each in told if (name := name_of(each))), None):
                    names[_id(key)] = PurePosixPath(name).name
    return names


def named(pointer: str, names: AssetNames) -> str:
    """Return the original name of a file, if it is known."""
    return names.get(_id(pointer), pointer)


def _listed(file: SourceFile) -> Mapping[str, object]:
    try:
        with closing(file.open()) as opened:
            body = opened.read(MAX_BYTES)
    except UNREADABLE:
        return {}
    whole = parsed(body, file.name)
    return {} if isinstance(whole, ImportProblem) else object_of(whole.value)


def _id(pointer: str) -> str:
    """Return the id in an address or in the name of a file."""
    last = pointer.rpartition("/")[2]
    found = ID.match(last)
    return found[0] if found else last
