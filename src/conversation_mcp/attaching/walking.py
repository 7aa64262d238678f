"""The search for files below a folder, before any of them is read."""

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from conversation_mcp.attaching.limits import MAX_ENTRIES
from conversation_mcp.attaching.opening import SPECIAL
from conversation_mcp.attaching.outcome import Outcome
from conversation_mcp.attaching.texts import AN_IMAGE
from conversation_mcp.attaching.tools import Tools
from conversation_mcp.documents.folders import FolderWalk
from conversation_mcp.documents.ignore_rules import Ignoring
from conversation_mcp.documents.roots import Root
from conversation_mcp.documents.skips import Reason, suffix

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif"})
OF_ANOTHER_KIND = "not an image"


class FolderSearch:
    """The files below a folder that match a pattern; what is left out goes to the outcome."""

    def __init__(
        self, folder: str, pattern: Sequence[str], tools: Tools, outcome: Outcome, *, is_image: bool = False
    ) -> None:
        self._root = Root(Path(folder), "/" + "/".join(pattern) if pattern else "")
        self._pattern = pattern
        self._tools = tools
        self._outcome = outcome
        self._is_image = is_image
        self._with_hidden = any(part.startswith(".") for part in pattern)

    def __iter__(self) -> Iterator[tuple[str, bool]]:
        """Yield each file with whether it is wanted; the others are left out already. No file is looked at closer."""
        walk = FolderWalk(
            self._root.path,
            is_foreign=self._tools.formats.is_foreign,
            leave_out=lambda reason, path: self._leave_out(path, reason),
            enters=_entering(str(self._root.path), self._pattern) if self._pattern else bool,
            with_hidden=self._with_hidden,
        )
        count = 0
        for entries, ignoring in walk.folders():
            self._tools.check_stop()
            count += len(entries)
            if count > MAX_ENTRIES or self._tools.seconds_left() < 0:
                self._leave_out(str(self._root.path), self._tools.limits.too_late, is_named=True)
                return
            yield from self._judged(entries, ignoring)

    def _judged(self, entries: list["os.DirEntry[str]"], ignoring: Ignoring) -> Iterator[tuple[str, bool]]:
        takes = self._root.takes if self._pattern else None
        judge_name = self._judge_image if self._is_image else self._judge_file
        ignores = ignoring.ignores
        for entry in entries:
            path = entry.path
            if takes is not None and not takes(path):
                continue
            reason = judge_name(entry.name)
            if reason is OF_ANOTHER_KIND:
                continue
            if ignores(path, is_folder=False):
                reason = Reason.IGNORED
            elif reason is None and not entry.is_file(follow_symlinks=False):
                reason = Reason.LINKED if entry.is_symlink() else SPECIAL
            if reason is not None:
                self._leave_out(path, reason)
            yield path, reason is None

    def _leave_out(self, path: str, reason: str, *, is_named: bool = False) -> None:
        self._outcome.leave_out(path, reason, is_named=is_named, is_image=self._is_image)

    def _judge_file(self, name: str) -> str | None:
        """Return why a file is left out whatever is in it."""
        if name.startswith(".") and not self._with_hidden:
            return Reason.HIDDEN
        reason = self._tools.formats.unwanted(name)
        return AN_IMAGE if reason and is_named_image(name) else reason

    def _judge_image(self, name: str) -> str | None:
        if not is_named_image(name):
            return OF_ANOTHER_KIND
        return Reason.HIDDEN if name.startswith(".") and not self._with_hidden else None


def is_named_image(name: str) -> bool:
    """Tell whether a file is an image by its name."""
    return suffix(name).lower() in IMAGES


def _entering(folder: str, pattern: Sequence[str]) -> Callable[[str], bool]:
    """Return what tells whether anything in a folder can match, by the parts of the pattern before `**`."""
    start = len(folder.rstrip(os.sep)) + 1

    def enters(path: str) -> bool:
        for part, name in zip(pattern, Path(path[start:]).parts, strict=False):
            if part == "**":
                return True
            if not fnmatchcase(name, part):
                return False
        return True

    return enters
