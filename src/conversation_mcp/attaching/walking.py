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
from conversation_mcp.documents.roots import Root
from conversation_mcp.documents.skips import Reason, suffix

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif"})
OF_ANOTHER_KIND = "not an image"
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
        takes = self._root.takes if self._pattern else bool
        judged_by_name = self._judge_image if self._is_image else self._judge_file
        for number, (entry, ignoring) in enumerate(walk):
            if number % ENTRIES_BETWEEN_CHECKS == 0:
                self._tools.check_stop()
                if number >= MAX_ENTRIES or self._tools.seconds_left() < 0:
                    self._outcome.leave_out(str(self._root.path), self._tools.limits.too_late, is_named=True)
                    return
            path = entry.path
            if not takes(path):
                continue
            reason = judged_by_name(entry.name)
            if reason is OF_ANOTHER_KIND:
                continue
            if ignoring.ignores(path, is_folder=False):
                reason = Reason.IGNORED
            status = None if reason else _status(entry)
            if status is not None and not stat.S_ISREG(status.st_mode):
                status, reason = None, Reason.LINKED if stat.S_ISLNK(status.st_mode) else SPECIAL
            if status is None:
                self._outcome.leave_out(path, reason or Reason.UNREADABLE, is_named=False)
            yield path, status

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


def _status(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


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
