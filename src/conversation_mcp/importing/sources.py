"""The files of a source: a file, a folder, or an archive, which is read without unpacking it to disk."""

import os
import re
import stat
import weakref
import zipfile
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import BinaryIO, cast

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import PLAIN_FLAGS
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.importing.base import ImportProblem, SourceFile
from conversation_mcp.records.hashes import HASH
from conversation_mcp.records.layout import CONVERSATIONS, EXPORT_STEM, FILE_NAME, FILES, TRASH, USER_FILE

ENDINGS = (".json", ".jsonl", ".ndjson", ".db", ".sqlite", ".sqlite3", ".html", ".htm", ".md")
NUMBERED_TEXT = re.compile(r"(?:^|/)conversation_[0-9]+\.txt$")
"""The name that Google's Takeout gives to JSON files."""
CONTENT = re.compile(rf"(?:^|/){FILES}/{HASH.pattern}\Z")
"""What our own conversations name, beside their file. It is read with the conversation, never by itself."""
OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
UNREAD_ARCHIVE = "an archive of a kind that is not read; unpack it"
ARCHIVE, MAX_ARCHIVES = ".zip", 200
"""An export can be a folder of archives; this is the most that are read."""
MAX_DEPTH = 12
MAX_RATIO, RATIO_FROM_BYTES = 200, 16 * 1024 * 1024
"""Text compresses to about a tenth; a member that unpacks to 200 times its size is a zip bomb."""
ENCRYPTED = 0x1
DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class Listing:
    """The files to read, sorted by name with numbers as numbers, and what else was found."""

    files: tuple[SourceFile, ...]
    problems: tuple[ImportProblem, ...] = ()
    others: int = 0
    """The number of files that cannot hold conversations, such as pictures."""


class _Archives:
    """Keeps the last archive open, so that its directory is not read again for each member."""

    def __init__(self) -> None:
        self._opening = Lock()
        self._path: Path | None = None
        self._opened: zipfile.ZipFile | None = None
        self._closing: weakref.finalize[..., _Archives] | None = None

    def opened(self, path: Path) -> zipfile.ZipFile:
        """Return the open archive; the previous one is closed once no member of it is being read."""
        if self._opened is None or path != self._path:
            self._path, self._opened = path, zipfile.ZipFile(path)
            if self._closing is not None:
                self._closing.detach()
            self._closing = weakref.finalize(self, self._opened.close)
        return self._opened

    def open(self, path: Path, member: zipfile.ZipInfo) -> BinaryIO:
        """Open a member, which never yields more bytes than the archive declares; that size was checked."""
        with self._opening:  # contents beside a conversation are read in another thread than the conversations
            return cast("BinaryIO", self.opened(path).open(member))


@dataclass
class _Collected:
    archive_count: int = 0
    files: dict[str, SourceFile] = field(default_factory=dict["str", SourceFile])
    problems: list[ImportProblem] = field(default_factory=list[ImportProblem])
    others: int = 0
    archives: _Archives = field(default_factory=_Archives)

    def listing(self) -> Listing:
        readable = [file for file in self.files.values() if not CONTENT.search(file.name)]
        users = self._users()
        kept = [file for file in readable if not self._is_ours(PurePosixPath(file.name), users)]
        ordered = sorted(kept, key=lambda file: _natural(file.name))
        return Listing(tuple(ordered), tuple(self.problems), self.others + len(readable) - len(kept))

    def _is_ours(self, name: PurePosixPath, users: Collection[PurePosixPath]) -> bool:
        """Tell whether a file in a folder of ours is not a conversation: deleted, or an export beside its file."""
        is_export = name.stem == EXPORT_STEM and str(name.with_name(FILE_NAME)) in self.files
        return TRASH in name.parts or is_export or _is_of_a_user(name, users)

    def _users(self) -> Collection[PurePosixPath]:
        """Return the folders that hold the data of a user, as we export it."""
        named = {path.parent for path in map(PurePosixPath, self.files) if path.name == USER_FILE}
        if not named:
            return named
        folders = {above for name in self.files for above in PurePosixPath(name).parents}
        return {above for above in named if above / CONVERSATIONS in folders}  # ChatGPT's have a file of that name, too


def _is_of_a_user(name: PurePosixPath, users: Collection[PurePosixPath]) -> bool:
    """Tell whether a file of an archive of a user's data is none of the conversations in it."""
    return any(name.relative_to(above).parts[0] != CONVERSATIONS for above in users if above in name.parents)


def list_files(path: Path) -> Listing:
    """Return the files of a source. Links in a folder are not followed, and nothing is unpacked.

    Raises:
        InvalidInputError: nothing exists at the path, or it is an archive that cannot be read.
        FilesystemError: the path cannot be read.
    """
    collected = _Collected()
    with explained(path):
        if not path.exists():
            raise InvalidInputError(f"there is nothing at {path} to import.")
        if path.is_dir():
            _walk(path, "", collected, 0)
        elif not path.is_file():
            raise InvalidInputError(f"{path} is neither a file, a folder nor an archive.")
        elif zipfile.is_zipfile(path):
            _members(path, collected)
        elif path.name.lower().endswith(OTHER_ARCHIVES):
            raise InvalidInputError(f"{path} is {UNREAD_ARCHIVE}.")
        else:
            collected.files[path.name] = _on_disk(path, path.name, collected)
    return collected.listing()


def _walk(folder: Path, prefix: str, collected: _Collected, depth: int) -> None:
    with os.scandir(folder) as scanned:
        found = list(scanned)
    for entry in found:
        name = prefix + entry.name
        if entry.is_symlink():
            collected.problems.append(ImportProblem(name, "is a symbolic link, which is not followed"))
        elif entry.is_dir(follow_symlinks=False):
            if depth < MAX_DEPTH:
                _walk(Path(entry), f"{name}/", collected, depth + 1)
            else:
                collected.problems.append(ImportProblem(name, "is nested too deeply"))
        elif entry.is_file(follow_symlinks=False) and _can_hold(name):
            collected.files[name] = _on_disk(Path(entry), name, collected)
        elif entry.is_file(follow_symlinks=False) and name.lower().endswith(ARCHIVE):
            _archive_within(Path(entry), name, collected)
        elif entry.is_file(follow_symlinks=False) and name.lower().endswith(OTHER_ARCHIVES):
            collected.problems.append(ImportProblem(name, f"is {UNREAD_ARCHIVE}"))
        else:
            collected.others += 1


def _can_hold(name: str) -> bool:
    return name.lower().endswith(ENDINGS) or any(shape.search(name) for shape in (NUMBERED_TEXT, CONTENT))


def _archive_within(path: Path, name: str, collected: _Collected) -> None:
    """Collect the members of an archive in a folder; a problem with it does not stop the others."""
    collected.archive_count += 1
    if collected.archive_count > MAX_ARCHIVES:
        collected.problems.append(
            ImportProblem(name, f"is one of more than {MAX_ARCHIVES} archives; import it by itself")
        )
    elif not zipfile.is_zipfile(path):
        collected.problems.append(ImportProblem(name, "is not a readable archive, perhaps cut off"))
    else:
        try:
            _members(path, collected, f"{name}/")
        except InvalidInputError as error:
            # The size of all members is known only after they were collected.
            for member in [each for each in collected.files if each.startswith(f"{name}/")]:
                del collected.files[member]
            collected.problems.append(ImportProblem(name, error.message.rstrip(".")))


def _on_disk(path: Path, name: str, collected: _Collected) -> SourceFile:
    return SourceFile(name, path.stat().st_size, partial(_open, path), path, collected.files)


def _open(path: Path) -> BinaryIO:
    # The path that the user names may be a link; `_walk` has left out those within a folder.
    return os.fdopen(os.open(path, os.O_RDONLY | (PLAIN_FLAGS & ~getattr(os, "O_NOFOLLOW", 0))), "rb")


def _members(path: Path, collected: _Collected, prefix: str = "") -> None:
    size = 0
    try:
        members = collected.archives.opened(path).infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InvalidInputError(f"{path} is a damaged archive: {error}.") from None
    for member in members:
        name = prefix + member.orig_filename  # `filename` is cut at a NUL byte, which `_objection` has to see
        if member.is_dir():
            continue
        if name.lower().endswith((ARCHIVE, *OTHER_ARCHIVES)):
            collected.problems.append(ImportProblem(name, "is an archive in an archive; unpack the outer one"))
        elif not _can_hold(name):
            collected.others += 1
        elif reason := _objection(member):
            collected.problems.append(ImportProblem(name, reason))
        else:
            if name in collected.files:
                collected.problems.append(ImportProblem(name, "is in the archive twice; the last one is read"))
            opener = partial(collected.archives.open, path, member)
            size += member.file_size
            collected.files[name] = SourceFile(name, member.file_size, opener, beside=collected.files)
    if size > max(RATIO_FROM_BYTES, MAX_RATIO * path.stat().st_size):
        raise InvalidInputError(f"{path} unpacks to more than {MAX_RATIO} times its size, as bombs do.")


def _objection(member: zipfile.ZipInfo) -> str:
    """Return why a member is not read. Names are only shown, but one that leads elsewhere marks a hostile archive."""
    steps = member.orig_filename.replace("\\", "/").split("/")
    if steps[0] == "" or ":" in steps[0] or ".." in steps or "\0" in member.orig_filename:
        return "has a name that leads out of the archive"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a symbolic link"
    if member.flag_bits & ENCRYPTED:
        return "is encrypted"
    if member.file_size > max(RATIO_FROM_BYTES, MAX_RATIO * member.compress_size):
        return f"unpacks to {member.file_size // max(1, member.compress_size):,} times its size, as bombs do"
    return ""


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in DIGITS.split(name)]
