"""The folders that may be read, and the paths that never are."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.names import PIPE, shown
from conversation_mcp.documents.roots import Root, split_pattern
from conversation_mcp.errors import InvalidInputError

ROOTS = "CONVERSATION_MCP_ROOTS"
CLIENT = "the client's roots"
OF_SYSTEM = ("/proc", "/sys", "/dev")
BELOW_SYSTEM = tuple(f"{folder}/" for folder in OF_SYSTEM)
OUTSIDE = "outside of the folders that may be read"
SYSTEM = "a part of the system, not a file of yours"


class Places:
    """Knows which real paths may be read."""

    def __init__(self, roots: Iterable[str], source: str) -> None:
        self.roots = tuple(roots)
        self.source = source
        self._starts = tuple(root.rstrip(os.sep) + os.sep for root in self.roots)

    def check(self, real: str) -> None:
        """Refuse a real path outside of the roots.

        Raises:
            RefusedError: it may not be read.
        """
        if real.startswith(BELOW_SYSTEM) or real in OF_SYSTEM:
            raise RefusedError(SYSTEM)
        if not real.startswith(self._starts) and real not in self.roots:
            raise RefusedError(OUTSIDE)


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is a folder or something in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def places(
    of_client: Sequence[Path] | None, of_settings: Sequence[Path], working_folder: Path, home: Path | None
) -> Places:
    """Return what may be read: below the client's roots, else those of the settings, else the working folder.

    Raises:
        InvalidInputError: there is no such folder, or only one that holds far more than was meant.
    """
    if of_client:
        return Places(_existing(of_client, CLIENT), CLIENT)
    if of_settings:
        return Places(_existing(of_settings, ROOTS), ROOTS)
    real = Path(os.path.realpath(working_folder))
    whole = "the whole disk" if real == real.parent else ""
    if not whole and home is not None and Path(os.path.realpath(home)).is_relative_to(real):
        whole = "your home folder" if Path(os.path.realpath(home)) == real else "a folder that holds your home folder"
    if whole:
        message = f"no files can be read: the program runs in {shown(str(real))}, which is {whole}."
        error = InvalidInputError(message)
        error.advice = f"Set {ROOTS} to the folders whose files may be sent, or start it in one of them."
        raise error
    return Places([str(real)], "the working folder")


def _existing(folders: Sequence[Path], source: str) -> list[str]:
    real = [os.path.realpath(folder) for folder in folders]
    there = [folder for folder in real if os.path.exists(folder)]  # noqa: PTH110 -- in a thread of its own
    if not there:
        named = ", ".join(shown(str(folder)) for folder in folders)
        error = InvalidInputError(f"no files can be read: {named} ({source}) does not exist.")
        error.advice = f"Set {ROOTS} to the folders whose files may be sent."
        raise error
    return list(dict.fromkeys(there))


class Exempt:
    """The paths whose secrets may be sent."""

    def __init__(self, named: Sequence[Path]) -> None:
        self._roots: list[Root] = []
        self.takes_pipe = any(str(path) == PIPE for path in named)
        """Whether a pipe is one of them."""
        for path in named:
            base, pattern = split_pattern(path)
            self._roots.append(Root(Path(os.path.realpath(base)), "/" + "/".join(pattern) if pattern else ""))

    def takes(self, real: str) -> bool:
        """Tell whether the real path is one of them."""
        return any(is_below(real, str(root.path)) and root.takes(real) for root in self._roots)
