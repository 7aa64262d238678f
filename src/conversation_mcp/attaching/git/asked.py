"""How a change is named: `git`, `git:staged`, `git:main..feature`, `git:/path/of/repository:HEAD~1:src`."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.names import ADDRESS, Naming

NAME = "git"
PREFIX = "git:"
STAGED, UNSTAGED = "staged", "unstaged"
A_FOLDER = (
    re.compile(r"[/~\\]|\.{1,2}/|[a-z]:[\\/]", re.IGNORECASE) if os.name == "nt" else re.compile(r"/|~/|\.{1,2}/")
)
REVISION = re.compile(r"(?!-)[^\s\x00-\x1f\x7f:?*\[\\]{1,250}")
ONE_COMMIT = "^!"
NOT_UNDERSTOOD = (
    "not a change that git knows; say git, git:staged, git:unstaged, git:HEAD~1, git:main..feature or git:COMMIT^!"
)


@dataclass(frozen=True)
class AskedChange:
    """Which change of which repository is meant."""

    what: str
    """Empty for everything since the last commit, `staged`, `unstaged`, a revision, or two with dots between them."""
    repository: str | None = None
    """The absolute path of a folder in it."""
    below: str = ""
    """The only path of the repository that is meant."""

    @property
    def name(self) -> str:
        """How it can be named in full."""
        parts = (NAME, *filter(None, (self.repository,)), self.what, self.below)
        return ":".join(parts).rstrip(":")

    @property
    def label(self) -> str:
        """How the change is called in what is sent."""
        return f"{PREFIX}{self.what}" if self.what else NAME


def is_change(given: str) -> bool:
    """Tell whether a name is meant for the change of a repository, not for a file."""
    return given == NAME or (given.startswith(PREFIX) and not ADDRESS.match(given))


def asked_in(given: str, naming: Naming) -> AskedChange:
    """Understand the name of a change.

    Raises:
        RefusedError: it names none.
    """
    rest = given.removeprefix(NAME).removeprefix(":")
    repository = None
    if A_FOLDER.match(rest):
        folder, rest = _split(rest)
        repository = naming.of(folder, with_lines=False).path
    what, _, below = rest.partition(":")
    below = below.strip("/")
    if ".." in below.split("/"):
        raise RefusedError(NOT_UNDERSTOOD)
    if what and not all(REVISION.fullmatch(side) for side in revisions_of(what) if side):
        raise RefusedError(NOT_UNDERSTOOD)
    return AskedChange(what, repository, below)


def revisions_of(what: str) -> tuple[str, ...]:
    """Return the revisions in the name of a change."""
    for dots in ("...", ".."):
        if dots in what:
            before, _, after = what.partition(dots)
            return before, after
    return (what.removesuffix(ONE_COMMIT),)


def _split(rest: str) -> tuple[str, str]:
    """Split the longest folder that exists from what follows; a folder may have a colon in its name."""
    places = [place for place, char in enumerate(rest) if char == ":" and place > 1]
    for end in (len(rest), *reversed(places)):
        if os.path.isdir(Path(rest[:end]).expanduser()):  # noqa: PTH112 -- a name may be no path at all
            return rest[:end], rest[end + 1 :]
    end = places[0] if places else len(rest)
    return rest[:end], rest[end + 1 :]
