"""The rules of `.gitignore` files: those of a folder, its subfolders, and the folders above it in a repository."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

FILE_NAME = ".gitignore"
MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Ignoring:
    """The rules that apply in a folder, the nearest last; the nearest that matches decides."""

    rules: tuple[tuple[str, "GitIgnoreSpec"], ...] = field(default=())

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
        rules = cls()
        for parent in reversed(above):
            rules = rules.within(str(parent))
        return cls() if rules.ignores(str(folder), is_folder=True) else rules

    def within(self, folder: str) -> "Ignoring":
        """Return the rules together with those of a `.gitignore` in the folder."""
        try:
            with open(os.path.join(folder, FILE_NAME), "rb", opener=_open) as file:  # noqa: PTH118 -- for each folder
                lines = file.read(MAX_BYTES).decode("utf-8-sig", "replace").splitlines()
        except OSError:
            return self
        return Ignoring((*self.rules, (folder, rules_of(lines))))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether git would ignore the path."""
        for folder, rules in reversed(self.rules):
            below = path[len(folder) + 1 :].replace(os.sep, "/") + ("/" if is_folder else "")
            if (decided := rules.check_file(below).include) is not None:
                return decided
        return False


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def rules_of(lines: Sequence[str]) -> "GitIgnoreSpec":
    """Read the lines, skipping those that are not valid patterns, as git does."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
