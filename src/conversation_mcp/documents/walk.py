"""The walk that finds the files behind the named roots, without reading them."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conversation_mcp.documents.folders import FolderWalk
from conversation_mcp.documents.formats import Format, Formats
from conversation_mcp.documents.ignore_rules import Ignoring
from conversation_mcp.documents.roots import Root, relative
from conversation_mcp.documents.skips import Reason, Skipped
from conversation_mcp.searching.stamped import stamp_of


@dataclass(frozen=True, slots=True)
class Document:
    """A file to read: its path, its path below the named folder (`shown`), and its stamp."""

    path: str
    shown: str
    form: Format
    modified_ns: int
    stamp: int
    changed_ns: int


class Documents:
    """The files behind the named roots, in the order of the roots and sorted within a folder."""

    def __init__(self, roots: Sequence[Root], formats: Formats) -> None:
        self.skipped = Skipped()
        self._roots = roots
        self._formats = formats

    def __iter__(self) -> Iterator[Document]:
        """Yield the files as they are now, those that roots share once for each root. Fills `skipped` meanwhile."""
        self.skipped = Skipped()
        for root in self._roots:
            yield from self._below(root) if root.is_folder else self._named(root)

    def _named(self, root: Root) -> Iterator[Document]:
        path = str(root.path)
        judged = self._formats.named(root.path.name)
        try:
            found = os.lstat(path)
        except OSError:
            self.skipped.add(Reason.UNREADABLE, path)
            return
        yield from self._sized(path, root.path.name, judged, found)

    def _below(self, root: Root) -> Iterator[Document]:
        walk = FolderWalk(root.path, is_foreign=self._formats.is_foreign, leave_out=self.skipped.add)
        for entry, ignoring in walk:
            yield from self._file(root, entry, ignoring)

    def _file(self, root: Root, entry: "os.DirEntry[str]", ignoring: Ignoring) -> Iterator[Document]:
        if not root.takes(entry.path):
            return
        judged = self._judged(entry.name)
        # The rules take time, and a file that nobody expects needs no second reason to be left out.
        if judged is not Reason.HIDDEN and judged is not Reason.OTHER and ignoring.ignores(entry.path, is_folder=False):
            judged = Reason.IGNORED
        if entry.is_symlink():
            yield from self._linked(Path(entry.path), judged)
            return
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            self.skipped.add(Reason.UNREADABLE, entry.path)
            return
        if stat.S_ISREG(found.st_mode):
            yield from self._sized(entry.path, relative(entry.path, root.path), judged, found)

    def _judged(self, name: str) -> Format | Reason:
        return Reason.HIDDEN if name.startswith(".") else self._formats.of(name)

    def _linked(self, link: Path, judged: Format | Reason) -> Iterator[Document]:
        """Follow a link to a file in the named folders; a linked folder in them is walked at its own place only."""
        try:
            target = link.resolve(strict=True)
            found = target.lstat()
        except (OSError, RuntimeError):
            self.skipped.add(judged if isinstance(judged, Reason) else Reason.UNREADABLE, str(link))
            return
        inside = next((root.path for root in self._roots if root.is_folder and target.is_relative_to(root.path)), None)
        if inside is None:
            if not isinstance(judged, Reason) or stat.S_ISDIR(found.st_mode):
                self.skipped.add(Reason.LINKED, str(link))
            return
        if stat.S_ISDIR(found.st_mode):
            return
        below = target.relative_to(inside)
        if isinstance(judged, Reason) or any(part.startswith(".") for part in below.parts):
            self.skipped.add(judged if isinstance(judged, Reason) else Reason.HIDDEN, str(link))
        elif stat.S_ISREG(found.st_mode):
            # Judged by its own name: a link must not give the file of a key another one.
            yield from self._sized(str(target), below.as_posix(), self._judged(target.name), found)

    def _sized(self, path: str, shown: str, judged: Format | Reason, found: os.stat_result) -> Iterator[Document]:
        if not isinstance(judged, Reason) and found.st_size > self._formats.max_bytes(judged):
            judged = Reason.TOO_LARGE
        if isinstance(judged, Reason):
            self.skipped.add(judged, path)
        else:
            yield _document(path, shown, judged, found)


def current_stamp(path: str) -> int | None:
    """Return the stamp of a file; None if there is no such regular file."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return stamp_of(found) if stat.S_ISREG(found.st_mode) else None


def _document(path: str, shown: str, form: Format, found: os.stat_result) -> Document:
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    return Document(path, shown, form, found.st_mtime_ns, stamp_of(found), changed)
