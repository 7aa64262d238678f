"""What can be named: files, lines of files, folders, patterns and a pipe, but no addresses."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from conversation_mcp.attaching.limits import RefusedError

PIPE = "-"
ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]+://|(?:https?|ftp|file|data|mailto|blob|javascript):)", re.IGNORECASE)
LINES = re.compile(r"(?P<path>.+):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL)
NO_ADDRESS = "an address, not a file; name a file on this machine, or put the text into the question"
NO_HOME = "`~` has no meaning here, because the home folder is unknown; give the absolute path"
NOT_ABSOLUTE = "not an absolute path; begin it at the root of the disk"
NO_LINES = "lines are counted from 1, the first before the last, as in path:10-80"


@dataclass(frozen=True)
class LineRange:
    """The lines of a file from the first to the last, both included; the first line is 1."""

    first: int
    last: int

    def of(self, text: str) -> tuple[str, str]:
        """Return these lines of a text, and which they are if it ends before the last.

        Raises:
            RefusedError: the text ends before the first.
        """
        lines = text.split("\n")
        total = len(lines) - (lines[-1] == "")
        if self.first > total:
            raise RefusedError("it has fewer lines than were named")
        last = min(self.last, total)
        cut = "\n".join(lines[self.first - 1 : last])
        is_ended = last < len(lines)
        return cut + "\n" * is_ended, str(last) if self.first == last else f"{self.first}-{last}"


@dataclass(frozen=True)
class Named:
    """A path or pattern in its absolute form, and the lines that were named with it."""

    path: str
    lines: LineRange | None = None


@dataclass(frozen=True)
class Naming:
    """How names are understood: against which folders, and whether they may be relative."""

    working_folder: Path
    home: Path | None
    takes_relative: bool

    def of(self, given: str, *, with_lines: bool = True) -> Named:
        """Understand a name.

        Raises:
            RefusedError: it is no path.
        """
        if ADDRESS.match(given):
            raise RefusedError(NO_ADDRESS)
        path = self._absolute(given)
        if not with_lines or ":" not in path or not (found := LINES.fullmatch(path)) or _exists(path):
            return Named(path)
        first = int(found["first"])
        last = int(found["last"] or first)
        if not 0 < first <= last:
            raise RefusedError(NO_LINES)
        return Named(os.path.normpath(found["path"]), LineRange(first, last))

    def _absolute(self, given: str) -> str:
        if not given.strip() or "\0" in given:
            raise RefusedError("not a path")
        if given == "~" or given.startswith(("~/", f"~{os.sep}")):
            if self.home is None:
                raise RefusedError(NO_HOME)
            given = f"{self.home}{os.sep}{given[2:]}"
        if not os.path.isabs(given):  # noqa: PTH117 -- a path is kept as it was spelled
            if not self.takes_relative:
                raise RefusedError(NOT_ABSOLUTE)
            given = f"{self.working_folder}{os.sep}{given}"
        try:
            os.fsencode(given)
        except UnicodeEncodeError:
            raise RefusedError("not a path") from None
        return given


def _exists(path: str) -> bool:
    return os.path.lexists(path)


def shown(path: str) -> str:
    """Return a path on one line, with escapes for characters that a terminal would obey or cannot show."""
    if path.isprintable():
        return path
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in path)
