"""Finding of a repository, and whether its data may be read at all."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from conversation_mcp.attaching.git.program import GitOutput, Program
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.opening import found
from conversation_mcp.attaching.places import Places, is_below

NO_REPOSITORY = "not in a git repository"
FOREIGN = "a repository that belongs to somebody else, which git refuses to read; `git config safe.directory` allows it"
UNREADABLE = "a repository that git cannot read"
ELSEWHERE = "a repository whose .git leads outside of the folders that may be read"
MAX_POINTER_BYTES = 65_536
SETTINGS = {
    "core.autocrlf": ("true", "false", "input"),
    "core.checkstat": ("default", "minimal"),
    "core.eol": ("lf", "crlf", "native"),
    "core.filemode": ("true", "false"),
    "core.ignorecase": ("true", "false"),
    "core.precomposeunicode": ("true", "false"),
    "core.repositoryformatversion": ("0", "1"),
    "core.symlinks": ("true", "false"),
    "core.trustctime": ("true", "false"),
    "extensions.objectformat": ("sha1", "sha256"),
    "extensions.refstorage": ("files", "reftable"),
}
"""All that is taken over from the configuration, with the values that it may have; none of it starts anything."""
EXCLUDES = "core.excludesfile"


@dataclass(frozen=True)
class Repository:
    """A repository by its real paths."""

    top: str | None
    """The folder of its files; None if it has only its history."""
    git_folder: str
    common: str
    """Where its objects and branches are: another folder than that of git for one of several worktrees."""
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def folder(self) -> str:
        """The folder that it is named by."""
        return self.top or self.common


def repository_at(folder: str, places: Places, program: Program) -> Repository:
    """Return the repository that a folder is in.

    Raises:
        RefusedError: there is none, git does not trust it, or it is not all within the places.
        StoppedError: nobody waits for it.
    """
    there = found(folder, places)
    start = there.path if there.is_folder else os.path.dirname(there.path)  # noqa: PTH120 -- a real path
    # Git itself looks for it, with the user's configuration, because that says whom to trust.
    git_folder = os.path.realpath(_said(program, start, "--absolute-git-dir"))
    common = os.path.realpath(_said(program, start, "--path-format=absolute", "--git-common-dir"))
    shown = program.run("rev-parse", "--show-toplevel", folder=start)
    top = os.path.realpath(shown.line) if shown.code == 0 and shown.line else None
    repository = Repository(top, git_folder, common, tuple(_settings(program, start)))
    _check_place(repository, places)
    return repository


def _said(program: Program, folder: str, *options: str) -> str:
    said = program.run("rev-parse", *options, folder=folder)
    if said.code:
        raise RefusedError(_reason(said))
    return said.line


def _reason(said: GitOutput) -> str:
    if "dubious ownership" in said.problem:
        return FOREIGN
    return NO_REPOSITORY if "not a git repository" in said.problem else UNREADABLE


def _settings(program: Program, folder: str) -> Iterator[tuple[str, str]]:
    names = "|".join((*SETTINGS, EXCLUDES)).replace(".", r"\.")
    said = program.run("config", "-z", "--show-scope", "--get-regexp", f"^({names})$", folder=folder)
    parts = os.fsdecode(said.data).split("\0")
    for scope, setting in zip(parts[::2], parts[1::2], strict=False):
        name, has_value, value = setting.partition("\n")
        value = value if has_value else "true"
        if name == EXCLUDES and scope in ("global", "system") and value.isprintable():
            yield name, value
        elif value.lower() in SETTINGS.get(name, ()):
            yield name, value.lower()


def _check_place(repository: Repository, places: Places) -> None:
    """Refuse a repository that reads from elsewhere: who fills a folder must not choose what is sent from others."""
    top, common = repository.top, repository.common
    if not (may_read(common, places) or _is_above(top, common, places) or _is_worktree(repository, places)):
        raise RefusedError(ELSEWHERE)
    if top and not may_read(top, places) and not _holds_root(top, places):
        raise RefusedError(ELSEWHERE)


def may_read(real: str, places: Places) -> bool:
    """Tell whether a real path is within the places."""
    try:
        places.check(real)
    except RefusedError:
        return False
    return True


def _holds_root(folder: str, places: Places) -> bool:
    return any(is_below(root, folder) for root in places.roots)


def _is_above(top: str | None, common: str, places: Places) -> bool:
    """Tell whether a place is a part of the repository, whose `.git` lies above it."""
    return top is not None and common == os.path.join(top, ".git") and _holds_root(top, places)  # noqa: PTH118


def _is_worktree(repository: Repository, places: Places) -> bool:
    """Tell whether the repository knows the folder as one of its worktrees: the link goes both ways."""
    top, git_folder = repository.top, repository.git_folder
    if top is None or not (may_read(top, places) or _holds_root(top, places)):
        return False
    link = os.path.join(top, ".git")  # noqa: PTH118 -- a real path
    if os.path.islink(link) or not is_below(git_folder, os.path.join(repository.common, "worktrees")):  # noqa: PTH114, PTH118
        return False
    try:
        with open(os.path.join(git_folder, "gitdir"), "rb") as file:  # noqa: PTH118, PTH123
            pointer = os.fsdecode(file.read(MAX_POINTER_BYTES).strip())
    except OSError:
        return False
    folder, name = os.path.split(os.path.join(git_folder, pointer))  # noqa: PTH118
    return os.path.join(os.path.realpath(folder), name) == link  # noqa: PTH118
