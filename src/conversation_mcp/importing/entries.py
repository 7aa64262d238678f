"""The entries of a text file: a JSON array, one JSON value per line, or a single value."""

import io
import json
import zipfile
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, NoReturn

from conversation_mcp.disk.files import MAX_FILE_BYTES
from conversation_mcp.importing.base import ImportProblem, Item, ReadOptions, SourceFile
from conversation_mcp.importing.messages import Data
from conversation_mcp.importing.splitter import Cut, NotClosedError, Splitter

CHUNK_BYTES = 256 * 1024
HEAD_BYTES, TAIL_BYTES = 64 * 1024, 4 * 1024
MAX_ENTRY_BYTES = 2 * MAX_FILE_BYTES
"""Large enough for any conversation that can be stored, with the additional data of a source."""
SAMPLE_ENTRIES, SAMPLE_LINES = 20, 20
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
"""The errors of archives that are damaged, cut off, encrypted, or packed in an unknown way."""

Convert = Callable[[Data, str, ReadOptions], Iterator[Item]]
OnRead = Callable[[int], None]


@dataclass(frozen=True)
class Entry:
    """A value and its place in the file."""

    place: str
    value: Any


class DamagedFileError(Exception):
    """The file as a whole cannot be read; the message says why and where."""


def entries(file: SourceFile, on_read: OnRead) -> Iterator[Entry | ImportProblem]:
    """Yield the entries, and a problem for each that cannot be parsed. The end of an array is checked first.

    Raises:
        DamagedFileError: the file is not such a text, or an array is cut off or continues after its end.
    """
    with closing(file.open()) as opened:
        head = opened.read(HEAD_BYTES)
    shape = _shape(head, len(head) == HEAD_BYTES)
    if shape == "array":
        # Before the first entry, so that half of a file that is cut off is not imported.
        _check_end(file)
        yield from _of_array(file, on_read)
    elif shape == "lines":
        yield from _of_lines(file, on_read)
    else:
        yield from _of_one(file, on_read)


def sample(file: SourceFile) -> Iterator[Any]:
    """Yield the first values of a file that can be parsed. Raises the errors of `entries` if there are none."""
    with closing(file.open()) as opened:
        head = opened.read(HEAD_BYTES)
    shape = _shape(head, len(head) == HEAD_BYTES)
    read = {"array": _of_array, "lines": _of_lines, "one": _of_one}[shape]
    is_empty = True
    try:
        for entry in islice(read(file, lambda _: None), SAMPLE_ENTRIES):
            if isinstance(entry, Entry):
                is_empty = False
                yield entry.value
    except DamagedFileError:
        if is_empty:
            raise


def each_entry(files: Sequence[SourceFile], reading: ReadOptions, convert: Convert) -> Iterator[Item]:
    """Yield the items that `convert` makes of each entry that is a JSON object."""
    for entry in each_object(files, reading):
        if isinstance(entry, ImportProblem):
            yield entry
        else:
            yield from convert(entry.value, entry.place, reading)


def each_object(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Entry | ImportProblem]:
    """Yield the entries that are JSON objects, and a problem for each that is not."""
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


def _shape(head: bytes, is_cut: bool) -> str:
    text = head.removeprefix(BOM_UTF8).lstrip()
    if not text:
        raise DamagedFileError("is empty")
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\0" in head[:4]:
        raise DamagedFileError("is UTF-16 or holds NUL bytes; save it as UTF-8")
    lines = [line for line in text.split(b"\n")[: SAMPLE_LINES + 1] if line.strip()]
    whole = lines[:-1] if is_cut and len(lines) <= SAMPLE_LINES else lines
    are_values = [_is_container(line) for line in whole]
    if text.startswith(b"["):
        return "lines" if len(whole) > 1 and are_values[0] and any(are_values[1:]) else "array"
    if text.startswith(b"{") and (lines[0].strip() == b"{" or (not is_cut and _is_container(text))):
        return "one"
    if any(are_values) or (text.startswith(b"{") and is_cut and not whole):
        return "lines"
    if text.startswith(b"{"):
        return "one"
    raise DamagedFileError(f"is not JSON: it begins with {text[:20].decode(errors='replace')!r}")


def _check_end(file: SourceFile) -> None:
    """Check that an array is closed. In an archive, this reads the whole member and verifies its checksum."""
    with closing(file.open()) as opened:
        opened.seek(max(0, file.size - TAIL_BYTES))
        tail = opened.read()
    if not tail.rstrip().endswith(b"]"):
        last = tail[-20:].decode(errors="replace")
        raise DamagedFileError(f"is cut off, or its list is not closed: it ends with {last!r} (byte {file.size:,})")


def _is_container(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False


def _cuts(file: SourceFile, on_read: OnRead) -> Iterator[Cut]:
    with closing(file.open()) as opened:
        try:
            yield from Splitter(MAX_ENTRY_BYTES).split(_chunks(opened, on_read))
        except NotClosedError as error:
            raise DamagedFileError(f"{error.reason} (byte {error.offset:,})") from None


def _chunks(opened: BinaryIO, on_read: OnRead) -> Iterator[bytes]:
    while chunk := opened.read(CHUNK_BYTES):
        yield chunk
        on_read(len(chunk))


def _of_array(file: SourceFile, on_read: OnRead) -> Iterator[Entry | ImportProblem]:
    for cut in _cuts(file, on_read):
        place = f"{file.name}, entry {cut.number:,} (byte {cut.offset:,})"
        yield ImportProblem(place, _too_long()) if cut.body is None else parsed(cut.body, place)


def _of_lines(file: SourceFile, on_read: OnRead) -> Iterator[Entry | ImportProblem]:
    with closing(file.open()) as opened:
        # A raw file would look for the end of a line byte by byte.
        lines = io.BufferedReader(opened, CHUNK_BYTES) if isinstance(opened, io.RawIOBase) else opened
        number = 0
        while line := lines.readline(MAX_ENTRY_BYTES + 1):
            number += 1
            on_read(len(line))
            place = f"{file.name}, line {number:,}"
            if len(line) > MAX_ENTRY_BYTES and not line.endswith(b"\n"):
                while rest := lines.readline(CHUNK_BYTES):
                    on_read(len(rest))
                    if rest.endswith(b"\n"):
                        break
                yield ImportProblem(place, _too_long())
            elif (body := line.removeprefix(BOM_UTF8) if number == 1 else line).strip():
                yield from _of_line(body, place)


def _of_line(body: bytes, place: str) -> Iterator[Entry | ImportProblem]:
    """Yield the value of a line, or its values if the line break between them was lost."""
    first = parsed(body, place)
    if isinstance(first, ImportProblem) and b"}{" in body:
        values = [parsed(part, place) for part in body.replace(b"}{", b"}\n{").split(b"\n") if part.strip()]
        if not any(isinstance(value, ImportProblem) for value in values):
            yield from values
            return
    yield first


def _of_one(file: SourceFile, on_read: OnRead) -> Iterator[Entry | ImportProblem]:
    with closing(file.open()) as opened:
        body = opened.read(MAX_ENTRY_BYTES + 1)
    on_read(len(body))
    if len(body) > MAX_ENTRY_BYTES:
        raise DamagedFileError(_too_long())
    whole = parsed(body.removeprefix(BOM_UTF8), file.name)
    if isinstance(whole, ImportProblem):
        raise DamagedFileError(whole.reason)
    yield whole


def parsed(body: bytes, place: str) -> Entry | ImportProblem:
    """Return the value of the bytes, or the problem with them."""
    try:
        return Entry(place, json.loads(body.decode(), parse_constant=_refuse))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno:,}, column {error.colno:,}" if error.lineno > 1 else f"character {error.colno:,}"
        return ImportProblem(place, f"is not valid JSON at {where} of it")
    except UnicodeDecodeError as error:
        return ImportProblem(place, f"is not UTF-8 at byte {error.start + 1:,} of it")
    except ValueError as error:
        return ImportProblem(place, f"holds a number that JSON does not have: {str(error)[:40]}")
    except RecursionError:
        return ImportProblem(place, "is nested too deeply")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _too_long() -> str:
    return f"is longer than the limit of {MAX_ENTRY_BYTES >> 20} MiB"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "a number"
