"""The rules of `.gitignore` files: those of a folder, its subfolders, and the folders above it in a repository."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

ANYWHERE = "^(?:.+/)?"
# The same name may not occur twice in the expression that joins the rules.
NAMED_GROUP = re.compile(r"\(\?P<\w+>")
EXCLUDED = os.path.join(".git", "info", "exclude")  # noqa: PTH118 -- a part of paths
FILE_NAME = ".gitignore"
MAX_BYTES = 1 << 20
IS_POSIX = os.sep == "/"


class FolderRules:
    """The rules of one file, for the paths below a folder."""

    def __init__(self, folder: str, lines: Sequence[str]) -> None:
        self.start = len(folder.rstrip(os.sep)) + 1
        """Where the part of a path begins that the rules are about."""
        self.rules = rules_of(lines)
        self.match_any = _any_of(self.rules).match
        """Matches if any rule says anything about such a part; hardly any path does, and this finds it out at once."""


@dataclass(frozen=True)
class Ignoring:
    """The rules that apply in a folder, the nearest last; the nearest that matches decides."""

    rules: tuple[FolderRules, ...] = field(default=())

    @classmethod
    def above(cls, folder: Path) -> "Ignoring":
        """Return the rules of the repository around a named folder; none if they ignore that folder itself."""
        above: list[Path] = []
        at = folder
        while not (at / ".git").exists():
            if at.parent == at:
                return cls()
            at = at.parent
            above.append(at)
        rules = cls().within(str(at), EXCLUDED)
        for parent in reversed(above):
            rules = rules.within(str(parent))
        return cls() if rules.ignores(str(folder), is_folder=True) else rules

    def within(self, folder: str, name: str = FILE_NAME) -> "Ignoring":
        """Return the rules together with those of a `.gitignore`, or of another such file, in the folder."""
        try:
            with open(os.path.join(folder, name), "rb", opener=_open) as file:  # noqa: PTH118 -- for each folder
                lines = file.read(MAX_BYTES).decode("utf-8-sig", "replace").splitlines()
        except OSError:
            return self
        if not any(line.strip() and not line.startswith("#") for line in lines):
            return self
        return Ignoring((*self.rules, FolderRules(folder, lines)))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether git would ignore the path."""
        for rules in reversed(self.rules):
            below = path[rules.start :]
            if not IS_POSIX:
                below = below.replace(os.sep, "/")
            if is_folder:
                below += "/"
            if rules.match_any(below) and (decided := rules.rules.check_file(below).include) is not None:
                return decided
        return False


def _open(path: str, flags: int) -> int:
    # A pipe of that name would stop the walk until somebody writes to it.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def rules_of(lines: Sequence[str]) -> "GitIgnoreSpec":
    """Read the lines, skipping those that are not valid patterns, as git does."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _any_of(rules: "GitIgnoreSpec") -> re.Pattern[str]:
    """Return an expression that matches every path that any of the rules says something about."""
    compiled = cast("list[re.Pattern[str] | None]", [rule.regex for rule in rules.patterns])  # pyright: ignore[reportUnknownMemberType] -- untyped there
    expressions = [NAMED_GROUP.sub("(?:", one.pattern) for one in compiled if one]
    anywhere = [one.removeprefix(ANYWHERE) for one in expressions if one.startswith(ANYWHERE)]
    below = [one for one in expressions if not one.startswith(ANYWHERE)]
    # What matches in any folder is tried together, because going through the folders takes longest.
    return re.compile("|".join(below + ([f"{ANYWHERE}(?:{'|'.join(anywhere)})"] if anywhere else [])) or "(?!)")


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
