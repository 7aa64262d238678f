"""The workflows that there are: those of the package, and the user's own, which win where names are equal."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from conversation_mcp.disk.faults import reason_of
from conversation_mcp.disk.files import open_regular
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.text import counted, listed, nearest, shorten
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.names import SHIPPED
from conversation_mcp.workflows.reader import MAX_BYTES, read_definition

ENDING = ".md"
MAX_FILES = 200
"""The most files of the user's folder that are read; the others are named as left out."""


@dataclass(frozen=True)
class WorkflowFile:
    """A file as it was read: its definition, or what is wrong with it."""

    name: str
    path: str
    is_own: bool
    """Whether it is the user's."""
    text: str
    definition: Workflow | None = None
    problems: tuple[str, ...] = ()
    """What is wrong, each with file, line and field."""

    @property
    def problem(self) -> str:
        """What is wrong, in one line."""
        return "; ".join(self.problems)


class Workflows:
    """The workflows by name. Files are read when they are asked for, so that changes count at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return all names, ours first, then those of the user's folder in alphabetical order."""
        own = [name for name in self._own_names() if name not in SHIPPED]
        return (*SHIPPED, *own[:MAX_FILES])

    def all(self) -> Iterator[WorkflowFile]:
        """Yield every workflow; one that cannot be read comes with its problem."""
        own = frozenset(self._own_names())
        for name in self.names():
            yield self._own(name) if name in own else _shipped(name)

    def left_out(self) -> int:
        """Return how many files of the user's folder are not read, because there are too many."""
        return max(0, sum(name not in SHIPPED for name in self._own_names()) - MAX_FILES)

    def file(self, name: str) -> WorkflowFile:
        """Return the file of that name.

        Raises:
            InvalidInputError: there is none; the message names the nearest.
        """
        names = self.names()
        if name in names:
            return self._own(name) if name in self._own_names() else _shipped(name)
        near = nearest(name.lower(), names)
        hint = f"did you mean {near}?" if near else f"there are {listed(names)}."
        raise InvalidInputError(f"there is no workflow {shorten(name, 60)!r}; {hint}", field="workflow")

    def find(self, name: str) -> Workflow:
        """Return the definition of that name.

        Raises:
            InvalidInputError: there is none, or its file is not valid; an own file is never replaced by ours.
        """
        file = self.file(name)
        if file.definition is None:
            raise InvalidInputError(f"the workflow {file.name} cannot be used: {file.problem}.", field="workflow")
        return file.definition

    def _own(self, name: str) -> WorkflowFile:
        return read_workflow((self._folder or Path()) / f"{name}{ENDING}")

    def _own_names(self) -> tuple[str, ...]:
        if self._folder is None:
            return ()
        try:
            with os.scandir(self._folder) as entries:
                return tuple(sorted(entry.name.removesuffix(ENDING) for entry in entries if _is_ours(entry.name)))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise InvalidInputError(f"the folder {self._folder} cannot be read: {reason_of(error)}.") from None


def read_workflow(path: Path) -> WorkflowFile:
    """Return a file of the user, valid or not."""
    name = path.name.removesuffix(ENDING)
    try:
        # The user may have linked to a file elsewhere; the opener itself follows no link.
        with open(os.path.realpath(path), "rb", buffering=0, opener=open_regular) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return WorkflowFile(name, str(path), is_own=True, text="", problems=(f"{path}: {_reason(error)}",))
    return _read(data, name, str(path), is_own=True)


def _reason(error: OSError) -> str:
    return "there is no such file" if isinstance(error, FileNotFoundError) else reason_of(error)


def _shipped(name: str) -> WorkflowFile:
    path = files("conversation_mcp.workflows").joinpath("definitions", f"{name}{ENDING}")
    return _read(path.read_bytes(), name, f"{name}{ENDING}", is_own=False)


def _read(data: bytes, name: str, path: str, *, is_own: bool) -> WorkflowFile:
    found = read_definition(data, name)
    text = data.decode("utf-8-sig", "replace")
    if isinstance(found, Workflow):
        return WorkflowFile(name, path, is_own, text, found)
    return WorkflowFile(name, path, is_own, text, problems=tuple(f"{path}:{problem}" for problem in found))


def _is_ours(name: str) -> bool:
    return name.endswith(ENDING) and not name.startswith(".")


def left_out_notice(count: int) -> str:
    """Return the notice that not all files of the user's folder were read."""
    return f"{counted(count, 'file')} of your folder were left out; at most {MAX_FILES} are read" if count else ""
