"""The named documents on disk: which files they are, and their text."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from conversation_mcp.errors import ProviderNotConfiguredError

SUFFIXES = frozenset({".md", ".markdown", ".txt", ".rst", ".text"})
MAX_FILE_BYTES = 5 * 1024 * 1024
HIDDEN = "hidden"
LINKED = "linked from elsewhere"
BINARY = "binary"
TOO_LARGE = "over 5 MiB"
UNREADABLE = "unreadable"
NAMED_BY = "CONVERSATION_MCP_DOCUMENTS or --documents"


class Documents:
    """The files behind the named paths, in the order of the names and sorted within a folder.

    `skipped` counts, by reason, what was left out so far.
    """

    def __init__(self, named: Sequence[Path], home: Path | None) -> None:
        self.skipped: Counter[str] = Counter()
        self._roots = [_usable(path, home) for path in named]
        self.paths = list(dict.fromkeys(path for root in self._roots for path in self._files(root)))

    def _files(self, root: Path) -> Iterator[Path]:
        if root.is_dir():
            yield from self._below(root)
        else:
            yield root

    def _below(self, folder: Path) -> Iterator[Path]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            self.skipped[UNREADABLE] += 1
            return
        for entry in entries:
            path = Path(entry.path)
            if entry.name.startswith("."):
                self.skipped[HIDDEN] += 1
            elif entry.is_symlink():
                yield from self._linked(path)
            elif entry.is_dir(follow_symlinks=False):
                yield from self._below(path)
            elif entry.is_file(follow_symlinks=False) and path.suffix.lower() in SUFFIXES:
                yield path

    def _linked(self, link: Path) -> Iterator[Path]:
        """Follow a link to a file of the named folders; a folder in them is read where it is, not through links."""
        is_text = link.suffix.lower() in SUFFIXES
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError):
            self.skipped[UNREADABLE] += is_text
            return
        if not any(target.is_relative_to(root) for root in self._roots):
            self.skipped[LINKED] += is_text or target.is_dir()
        elif is_text and target.is_file():
            yield target

    def read(self, path: Path) -> str | None:
        """Return the text of a file; None, and counted, when it cannot serve as a document."""
        try:
            with path.open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError:
            self.skipped[UNREADABLE] += 1
            return None
        if len(data) > MAX_FILE_BYTES or b"\0" in data:
            self.skipped[TOO_LARGE if len(data) > MAX_FILE_BYTES else BINARY] += 1
            return None
        return data.decode("utf-8-sig", "replace")

    def skipped_sentence(self) -> str:
        """Return what was left out and why; empty when nothing was. Hidden files are left out by convention."""
        counts = [f"{count} {reason}" for reason, count in sorted(self.skipped.items()) if reason != HIDDEN]
        return f"Some of the named files were not read: {', '.join(counts)}." if counts else ""

    def nothing_to_read(self) -> ProviderNotConfiguredError:
        """Return the error for documents that hold no text."""
        return _refusal(f"no text or Markdown file that can be read in {', '.join(map(str, self._roots))}")


def _usable(path: Path, home: Path | None) -> Path:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise _refusal(f"{path} does not exist or cannot be reached") from None
    if real == real.parent:
        raise _refusal(f"{path} is the whole disk")
    if home is not None and home.resolve().is_relative_to(real):
        raise _refusal(f"{path} holds your whole home folder")
    if not real.is_dir() and not real.is_file():
        raise _refusal(f"{path} is neither a file nor a folder")
    return real


def _refusal(problem: str) -> ProviderNotConfiguredError:
    error = ProviderNotConfiguredError(f"{problem}; it was named by {NAMED_BY}.")
    error.advice = "Name Markdown or text files, or the folders that hold them."
    return error
