"""Writing files and images of a conversation into a folder, each below it at a path made from its own."""

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from conversation_mcp.conversations.attached import AttachedAt
from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.records.attached import AttachedFile, AttachedImage

WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
UNSAFE = re.compile(r"[/<>:\"|?*\\\x00-\x1f\x7f-\x9f]")
RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)", re.IGNORECASE)
"""Devices, which Windows finds in every folder and under every suffix."""
MAX_PART_BYTES = 180
"""File systems limit names to 255 bytes; the rest is for what tells versions apart."""

MAX_LINES_CHARS = 40

Key = tuple[str, str, str]
"""Path, lines and hash: what makes a file of its own."""


def key_of(named: AttachedFile | AttachedImage) -> Key:
    """Return what tells the file to write from others."""
    lines = named.lines if isinstance(named, AttachedFile) else None
    return named.path, lines or "", named.sha256 or ""


def places_for(attached: Iterable[AttachedAt]) -> dict[Key, PurePosixPath]:
    """Return where each content goes, relative to the folder: at its path without the root, never out of the folder.

    If a path has several versions, each has the number of its message in its name.
    """
    numbers: dict[Key, int] = {}
    for one in attached:
        if one.named.sha256 is not None:
            numbers.setdefault(key_of(one.named), one.number)
    versions: dict[tuple[str, str], int] = {}
    for path, lines, _ in numbers:
        versions[path, lines] = versions.get((path, lines), 0) + 1
    places: dict[Key, PurePosixPath] = {}
    taken: set[str] = set()
    for key, number in numbers.items():
        path, lines, _ = key
        marks = [f"lines-{_clean(lines[:MAX_LINES_CHARS])}"] if lines else []
        marks += [f"message-{number}"] if versions[path, lines] > 1 else []
        places[key] = _free(_parts(path), marks, taken)
    return places


def write_restored(folder: Path, place: PurePosixPath, data: bytes, *, replaces: bool) -> bool:
    """Write the content, readable only by its owner; return False if something else is there and may not be replaced.

    Raises:
        FilesystemError: it cannot be written, or a link stands in the way.
    """
    target = folder / place
    with explained(target):
        disk.make_private_folder(folder)
        for parent in reversed(place.parents[:-1]):
            disk.refuse_link(folder / parent)
            disk.claim_folder(folder / parent)
        disk.refuse_link(target)
        if os.path.lexists(target) and not replaces:
            return disk.read_file(target) == data
        disk.replace_file(target, data)
    return True


def _parts(path: str) -> list[str]:
    steps = re.split(r"[\\/]", path) if WINDOWS.match(path) else path.split("/")
    return [_clean(step) for step in steps if step not in ("", ".", "..")] or ["file"]


def _clean(part: str) -> str:
    """Return a name that is valid on every system, and no step up."""
    short = UNSAFE.sub("_", part).encode("utf-8", "replace")[:MAX_PART_BYTES].decode(errors="ignore")
    short = short.rstrip(". ") or "_"
    return f"_{short}" if RESERVED.match(short) else short


def _free(parts: list[str], marks: list[str], taken: set[str]) -> PurePosixPath:
    """Return a path that no other has, on file systems that ignore case too."""
    *above, name = parts
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 -- of a name, not of a path
    count = 1
    while True:
        more = [*marks, *([str(count)] if count > 1 else [])]
        place = PurePosixPath(*above, f"{'.'.join([stem, *more])}{suffix}")
        if (folded := str(place).casefold()) not in taken:
            taken.add(folded)
            return place
        count += 1
