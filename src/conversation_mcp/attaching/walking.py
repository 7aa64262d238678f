"""The search for files below a folder, before any of them is read."""

import os
import stat
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
BY_NAME = frozenset({Reason.GENERATED, Reason.OTHER, Reason.NEEDS_EXTRA})
ENTRIES_BETWEEN_CHECKS = 100


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

    def __iter__(self) -> Iterator[tuple[str, os.stat_result | None]]:
        """Yield each file with what the disk says of it, or None if it is left out."""
        walk = FolderWalk(
            self._root.path,
            is_foreign=self._tools.formats.is_foreign,
            leave_out=lambda reason, path: self._outcome.leave_out(path, reason, is_named=False),
            enters=_entering(str(self._root.path), self._pattern) if self._pattern else bool,
            with_hidden=self._with_hidden,
        )
        for number, (entry, ignoring) in enumerate(walk):
            if number % ENTRIES_BETWEEN_CHECKS == 0:
                self._tools.check_stop()
                if number >= MAX_ENTRIES or self._tools.seconds_left() < 0:
                    self._outcome.leave_out(str(self._root.path), self._tools.limits.too_late, is_named=True)
                    return
            if self._root.pattern and not self._root.takes(entry.path):
                continue
            if self._is_image and not is_named_image(entry.name):
                continue
            judged = self._judged(entry, ignoring)
            if isinstance(judged, str):
                self._outcome.leave_out(entry.path, judged, is_named=False)
                yield entry.path, None
            else:
                yield entry.path, judged

    def _judged(self, entry: "os.DirEntry[str]", ignoring: Ignoring) -> os.stat_result | str:
        """Return what the disk says of a file, or why it is left out without being read."""
        if entry.name.startswith(".") and not self._with_hidden:
            return Reason.HIDDEN
        if ignoring.ignores(entry.path, is_folder=False):
            return Reason.IGNORED
        if entry.is_symlink():
            return Reason.LINKED
        if not self._is_image and (reason := self._by_name(entry.name)):
            return reason
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return Reason.UNREADABLE
        return status if stat.S_ISREG(status.st_mode) else SPECIAL

    def _by_name(self, name: str) -> str | None:
        if is_named_image(name):
            return AN_IMAGE
        judged = self._tools.formats.of(name)
        return judged if judged in BY_NAME else None


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
