"""The files, folders and patterns that the user named, but never the whole disk or the home folder by accident."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.documents.ignore_rules import rules_of
from conversation_mcp.errors import ProviderNotConfiguredError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Root:
    """A named file or folder by its real path, or the folder that a named pattern begins with."""

    path: Path
    pattern: str = ""
    is_folder: bool = True

    def takes(self, path: str) -> bool:
        """Tell whether the root includes a file below it."""
        return not self.pattern or self._pattern.match_file(relative(path, self.path))

    @cached_property
    def _pattern(self) -> "GitIgnoreSpec":
        return rules_of([self.pattern])


def roots_of(named: Sequence[Path], home: Path | None) -> list[Root]:
    """Return the roots of what was named, in order and without repetition.

    Raises:
        ProviderNotConfiguredError: one does not exist, or is the whole disk or home folder.
    """
    return list(dict.fromkeys(_root(path, home) for path in named))


def relative(path: str, folder: Path) -> str:
    """Return the path relative to a folder, with `/` as the separator."""
    return path[len(str(folder)) :].lstrip(os.sep).replace(os.sep, "/")


def split_pattern(path: Path) -> tuple[Path, tuple[str, ...]]:
    """Split a pattern before the first part with a special character; the second half is empty for a plain path."""
    parts = path.parts
    first = next((number for number, part in enumerate(parts) if MAGIC.search(part)), len(parts))
    if first == len(parts) or os.path.lexists(path):
        return path, ()
    return Path(*parts[:first]), parts[first:]


def nothing_to_read(named: Sequence[Path], left_out: str) -> ProviderNotConfiguredError:
    """Return the error for documents without any text, with the sentence about what was left out."""
    error = _refusal(f"there is no readable file in {', '.join(map(str, named))}")
    error.advice = f"{left_out} {error.advice}".lstrip()
    return error


def _root(path: Path, home: Path | None) -> Root:
    base, rest = split_pattern(path)
    try:
        real = base.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle; ValueError: a null in the name
        raise _refusal(f"{base} does not exist or cannot be reached") from None
    if real == real.parent:
        raise _refusal(f"{path} is the whole disk")
    if home is not None and home.resolve().is_relative_to(real):
        raise _refusal(f"{path} holds your whole home folder")
    if rest:
        return Root(real, "/" + "/".join(rest))
    if not real.is_dir() and not real.is_file():
        raise _refusal(f"{path} is neither a file nor a folder")
    return Root(real, is_folder=real.is_dir())


def _refusal(problem: str) -> ProviderNotConfiguredError:
    error = ProviderNotConfiguredError(f"{problem}; the setting documents names it.")
    error.advice = "Name documents, the folders that hold them, or patterns such as notes/**/*.md."
    return error
