"""The walk through a folder, past what git ignores, what is hidden, and installed packages."""

import os
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path

from conversation_mcp.documents.ignore_rules import Ignoring
from conversation_mcp.documents.skips import Reason

VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
NAME = attrgetter("name")


class FolderWalk:
    """The entries below a folder that are not folders, sorted within each, and what was left out on the way."""

    def __init__(
        self,
        top: Path,
        *,
        is_foreign: Callable[[str], bool],
        leave_out: Callable[[Reason, str], None],
        enters: Callable[[str], bool] = bool,
        with_hidden: bool = False,
    ) -> None:
        self._top = top
        self._is_foreign = is_foreign
        self._leave_out = leave_out
        self._enters = enters
        self._with_hidden = with_hidden

    def __iter__(self) -> Iterator[tuple["os.DirEntry[str]", Ignoring]]:
        """Yield each entry with the rules that apply to it."""
        for entries, ignoring in self.folders():
            for entry in entries:
                yield entry, ignoring

    def folders(self) -> Iterator[tuple[list["os.DirEntry[str]"], Ignoring]]:
        """Yield the entries of each folder with the rules that apply there."""
        top = str(self._top)
        waiting = [(top, Ignoring.above(self._top))]
        while waiting:
            folder, above = waiting.pop()
            try:
                with os.scandir(folder) as found:
                    entries = sorted(found, key=NAME)
            except OSError:
                self._leave_out(Reason.UNREADABLE, folder)
                continue
            # A folder that the user has named is read, whatever it is.
            if folder != top and VIRTUAL_ENVIRONMENT in map(NAME, entries):
                self._leave_out(Reason.INSTALLED, folder)
                continue
            ignoring = above.within(folder)
            inner: list[os.DirEntry[str]] = []
            others: list[os.DirEntry[str]] = []
            for entry in entries:
                (inner if entry.is_dir(follow_symlinks=False) else others).append(entry)
            yield others, ignoring
            entered = [entry.path for entry in inner if self._is_entered(entry, ignoring)]
            waiting += [(path, ignoring) for path in reversed(entered)]  # a stack: the last one is walked next

    def _is_entered(self, entry: "os.DirEntry[str]", ignoring: Ignoring) -> bool:
        if not self._enters(entry.path):
            return False
        if entry.name.startswith(".") and not (self._with_hidden and entry.name != ".git"):
            self._leave_out(Reason.HIDDEN, entry.path)
        elif self._is_foreign(entry.name):
            self._leave_out(Reason.INSTALLED, entry.path)
        elif ignoring.ignores(entry.path, is_folder=True):
            self._leave_out(Reason.IGNORED, entry.path)
        else:
            return True
        return False
