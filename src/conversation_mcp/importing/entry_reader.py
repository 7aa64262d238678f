"""Goes through the entries of the files of one format; whatever is wrong with one does not stop the others."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence

from conversation_mcp.importing.base import ImportProblem, Item, ReadOptions, SourceFile
from conversation_mcp.importing.entries import DamagedFileError, Entry, entries
from conversation_mcp.importing.messages import Data

UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
"""What archives raise where they are damaged, cut, encrypted, or packed in a way that is not known."""

Convert = Callable[[Data, str, ReadOptions], Iterator[Item]]


def each_entry(files: Sequence[SourceFile], reading: ReadOptions, convert: Convert) -> Iterator[Item]:
    """Yield what the conversion makes of each entry that is a JSON object."""
    for entry in each_object(files, reading):
        if isinstance(entry, ImportProblem):
            yield entry
        else:
            yield from convert(entry.value, entry.place, reading)


def each_object(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Entry | ImportProblem]:
    """Yield the entries that are JSON objects, and a problem for whatever else stands there."""
    for file in files:
        try:
            for entry in entries(file, reading.on_read):
                if isinstance(entry, Entry) and not isinstance(entry.value, dict):
                    yield ImportProblem(entry.place, f"is {_kind(entry.value)}, not a conversation")
                else:
                    yield entry
        except DamagedFileError as error:
            yield ImportProblem(file.name, str(error))
        except UNREADABLE as error:
            yield ImportProblem(file.name, f"cannot be read: {error}")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "a number"
