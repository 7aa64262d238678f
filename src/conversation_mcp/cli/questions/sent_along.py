"""The files and images that were typed: absolute paths, and where the program may read because of them."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import escape, has_magic
from pathlib import Path

from conversation_mcp.attaching.git.asked import AskedChange, asked_in, is_change
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.names import Naming
from conversation_mcp.cli.questions.piped import stdin_bytes
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.text import listed

FROM_PIPE = "-"
LINES = re.compile(r"(?P<path>.+)(?P<lines>:[0-9]{1,9}(?:-[0-9]{1,9})?)", re.DOTALL)
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://|data:", re.IGNORECASE)
EXAMPLE = 'git diff | conversation-mcp ask -f - "…"'


@dataclass(frozen=True)
class SentAlong:
    """What goes with a question, by absolute paths. Every typed path may be read, and what is below the `roots`."""

    files: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()
    pipe: bytes | None = None

    async def get_roots(self) -> Sequence[Path]:
        """Return the roots, as a caller names them."""
        return self.roots


NOTHING = SentAlong()


def sent_along(files: Sequence[str], images: Sequence[str], folder: Path) -> SentAlong:
    """Return what was typed, by absolute paths; the pipe is read to its end if it is one of the files or images.

    Who types a path means the file that it leads to, also through a link. So each typed path is a root by its real
    path; what folders and patterns lead to by links elsewhere is not.

    Raises:
        InvalidInputError: there is no pipe, nothing comes through it, it is typed twice, or no typed path exists.
    """
    typed = [TypedPath(each, folder) for each in dict.fromkeys((*files, *images))]
    if not typed:
        return NOTHING
    if FROM_PIPE in files and FROM_PIPE in images:
        raise InvalidInputError("the pipe can be a file (-f -) or an image (--image -), not both.")
    if all(each.is_missing for each in typed):
        raise InvalidInputError(f"there is no {listed((each.text for each in typed), 'or')}.")
    full = {each.text: each.absolute for each in typed}
    roots = (root for each in typed for root in each.roots())
    return SentAlong(
        files=tuple(full[each] for each in dict.fromkeys(files)),
        images=tuple(full[each] for each in dict.fromkeys(images)),
        roots=tuple(dict.fromkeys((*roots, *_bounded(folder)))),
        pipe=_pipe() if FROM_PIPE in full else None,
    )


class TypedPath:
    """A path, a pattern, the pipe, or something that is no path at all, as it was typed in a folder."""

    def __init__(self, text: str, folder: Path) -> None:
        if not text.strip():
            raise InvalidInputError("the path of a file is empty.")
        self.text = text
        self._folder = folder
        # A file of that very name comes before the lines of another.
        found = None if os.path.lexists(folder / text) else LINES.fullmatch(text)
        self._path, self._lines = (found["path"], found["lines"]) if found else (text, "")
        if self._path.startswith("~") and not os.path.lexists(folder / self._path):
            self._path = os.path.expanduser(self._path)  # noqa: PTH111 -- pathlib fails for an unknown user
        self._is_there = os.path.lexists(folder / self._path)
        self._change = None if self._is_there else _change(text, folder)
        self._is_path = text != FROM_PIPE and (self._is_there or not (is_change(text) or ADDRESS.match(text)))
        self._is_pattern = self._is_path and not self._is_there and has_magic(self._path)

    @property
    def is_missing(self) -> bool:
        """Whether it names a file that does not exist."""
        return self._is_path and not self._is_there and not self._is_pattern

    @property
    def absolute(self) -> str:
        """The path in full, with the lines that it names; the pipe and addresses stay as they are."""
        if self._change:
            return self._change.name
        if not self._is_path:
            return self.text
        before = escape(str(self._folder)) if self._is_pattern else str(self._folder)
        return os.path.join(before, self._path) + self._lines  # noqa: PTH118 -- pathlib drops what a pattern may end with

    def roots(self) -> Iterator[Path]:
        """Yield the real path of a file, folder or repository, or of the folder that a pattern begins in."""
        if self._change and self._change.repository:
            yield from _bounded(_repository_around(Path(self._change.repository)))
        plain = self._folder / self._path
        if self._is_pattern:
            parts = plain.parts
            plain = Path(*parts[: next(number for number, part in enumerate(parts) if has_magic(part))])
        if self.is_missing:
            yield from _bounded(plain.parent)  # so that it is said to be missing, not to be out of bounds
        elif self._is_path:
            with suppress(OSError, RuntimeError):  # such as a loop of links, which the reader will name
                yield plain.resolve()


def _change(text: str, folder: Path) -> AskedChange | None:
    """Return the change that a name stands for, with its repository: the one around the folder if none is named."""
    if not is_change(text):
        return None
    try:
        asked = asked_in(text, Naming(folder, Path.home(), takes_relative=True))
    except (RefusedError, RuntimeError):  # the reader says what is wrong with it
        return None
    return asked if asked.repository else replace(asked, repository=str(folder))


def _repository_around(folder: Path) -> Path:
    real = folder.resolve()
    return next((each for each in (real, *real.parents) if os.path.lexists(each / ".git")), real)


def _bounded(folder: Path) -> Iterator[Path]:
    """Yield the real path of a folder, unless it is the whole disk or holds the whole home folder."""
    real = folder.resolve()
    with suppress(RuntimeError):  # there is no home folder
        if Path.home().resolve().is_relative_to(real):
            return
    if real != real.parent:
        yield real


def _pipe() -> bytes:
    given = stdin_bytes()
    if given is None:
        raise InvalidInputError(f"there is no pipe to read: {EXAMPLE}")
    if not given.strip():
        raise InvalidInputError("nothing came through the pipe.")
    return given
