"""The files of a change, as git lists them."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from conversation_mcp.attaching.git.asked import ONE_COMMIT, STAGED, UNSTAGED, AskedChange, revisions_of
from conversation_mcp.attaching.git.program import GitOutput
from conversation_mcp.attaching.git.shadow import Shadow
from conversation_mcp.attaching.limits import RefusedError

SUBMODULE, NOTHING_THERE = "160000", "000000"
PLAIN = ("M", "A", "D")
START = re.compile(rb"^(?=diff --git )", re.MULTILINE)
"""Where the diff of a file begins; each line of its content has a sign before it."""
USUAL_SHARE = 8
"""How many of the largest diffs are read at once."""
TWO_PATHS = ("R", "C")
MODIFIED, UNMERGED = "M", "U"
UNKNOWN = "git knows no commit of this name"
NO_FILES_HERE = "a bare repository has no files; name two commits, as in git:main..feature"
NO_CHANGE_HERE = "git cannot read this change; a part of the repository may be damaged or not on this machine"
TOO_MANY = "the change has too many files to be listed"
HOW = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--ignore-submodules=dirty",
    "--submodule=short",
)
RENAMES = ("-M", "-l1000")
FEWER_DIGITS = 10


@dataclass(frozen=True)
class Commit:
    """A commit that was named, or the tree without any files, before the first one."""

    name: str
    hash: str

    @property
    def shown(self) -> str:
        """Its name, and what it stands for."""
        return self.name if self.hash.startswith(self.name) else f"{self.name} ({self.hash[:FEWER_DIGITS]})"


@dataclass(frozen=True)
class Changed:
    """A file that was changed; the numbers of lines are None if they are not known, as of a binary file."""

    status: str
    path: str
    old_path: str | None
    old_mode: str
    new_mode: str
    old_hash: str
    new_hash: str
    added: int | None = None
    removed: int | None = None
    is_binary: bool = False

    @property
    def is_submodule(self) -> bool:
        """Whether it is another repository."""
        return SUBMODULE in (self.old_mode, self.new_mode)

    @property
    def is_same(self) -> bool:
        """Whether, among files that were counted, only ends of lines that git converts differ."""
        return (
            self.status == MODIFIED
            and self.old_mode == self.new_mode
            and not (self.added or self.removed or self.is_binary)
        )

    @property
    def is_plain(self) -> bool:
        """Whether its diff is one piece for certain."""
        return self.status in PLAIN and self.old_path is None and bool(self.added or self.removed)

    @property
    def paths(self) -> tuple[str, ...]:
        """Its paths, the older one first."""
        return (self.old_path, self.path) if self.old_path else (self.path,)


@dataclass(frozen=True)
class ComparedSides:
    """What is compared with what."""

    command: tuple[str, ...]
    """The command of git that compares, with its commits."""
    title: str
    with_untracked: bool = False


class ChangeListing:
    """Lists a change, and shows the changes of its files."""

    def __init__(self, shadow: Shadow, asked: AskedChange) -> None:
        self._shadow = shadow
        self._below = (asked.below,) if asked.below else ()
        self.comparison = self._comparison(asked.what)
        if self.comparison.command[0] != "diff-tree":
            # In our copy of the index, so that files that were only touched do not count as changed.
            shadow.run("update-index", "-q", "--refresh", "--ignore-submodules")

    def changed(self) -> list[Changed]:
        """Return the files that were changed.

        Raises:
            RefusedError: git cannot tell.
        """
        listed = self._compared(*RENAMES, "--raw", "--numstat", "-z", "--no-abbrev")
        is_counted = listed.code == 0
        if not is_counted and not listed.is_cut:  # contents that renames and counts need may not be here
            listed = self._compared("--no-renames", "--raw", "-z", "--no-abbrev")
        if listed.is_cut:
            raise RefusedError(TOO_MANY)
        if listed.code:
            raise RefusedError(NO_CHANGE_HERE)
        changed = changed_in(listed.data)
        return [one for one in changed if not one.is_same] if is_counted else changed

    def untracked(self) -> list[str]:
        """Return the names of files and folders that git neither tracks nor ignores."""
        if not self.comparison.with_untracked:
            return []
        listed = self._shadow.run(
            "ls-files",
            "--others",
            "--exclude-standard",
            "--directory",
            "--no-empty-directory",
            "-z",
            "--",
            *self._below,
        )
        return [os.fsdecode(name) for name in listed.data.split(b"\0")[:-1]]

    def patches(self, changed: Sequence[Changed], context_lines: int, max_bytes: int) -> list[GitOutput]:
        """Return the diff of each file, at most so many bytes of each."""
        if all(one.is_plain for one in changed) and len(changed) > 1:
            # Together, because git reads its index each time; one by one only if they cannot be told apart.
            together = self._patch(changed, context_lines, USUAL_SHARE * max_bytes)
            parts = START.split(together.data)[1:]
            if not together.code and not together.is_cut and len(parts) == len(changed):
                return [GitOutput(part[:max_bytes], 0, "", is_cut=len(part) > max_bytes) for part in parts]
        return [self._patch((one,), context_lines, max_bytes) for one in changed]

    def _patch(self, changed: Sequence[Changed], context_lines: int, max_bytes: int) -> GitOutput:
        command = self.comparison.command
        if command[0] == "diff-files" and any(one.status == UNMERGED for one in changed):
            command = (*command, "-2")  # against our side, with the marks of the conflict
        return self._shadow.run(
            *_with(command, (*HOW, *RENAMES, "-p", f"-U{context_lines}")),
            "--",
            *(path for one in changed for path in one.paths),
            max_bytes=max_bytes,
        )

    def commit(self, name: str) -> Commit:
        """Return the commit that a name stands for.

        Raises:
            RefusedError: there is none.
        """
        found = self._found(name)
        if found is None:
            raise RefusedError(UNKNOWN)
        return Commit(name, found)

    def branch(self) -> str:
        """Return where the repository is: its branch and commit."""
        named = self._shadow.run("symbolic-ref", "-q", "--short", "HEAD")
        commit = self._found("HEAD")
        at = commit[:FEWER_DIGITS] if commit else "no commits yet"
        return f"branch {named.line} ({at})" if named.code == 0 else f"no branch ({at})"

    def _compared(self, *options: str) -> GitOutput:
        return self._shadow.run(*_with(self.comparison.command, (*HOW, *options)), "--", *self._below)

    def _found(self, name: str) -> str | None:
        found = self._shadow.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return found.line if found.code == 0 and found.line else None

    def _head(self) -> Commit:
        found = self._found("HEAD")
        return Commit("HEAD", found) if found else self._nothing()

    def _nothing(self) -> Commit:
        return Commit("nothing", self._shadow.run("hash-object", "-t", "tree", os.devnull).line)

    def _comparison(self, what: str) -> ComparedSides:
        sides = revisions_of(what)
        if len(sides) == 2:  # noqa: PLR2004 -- before and after
            before, after = (self.commit(side or "HEAD") for side in sides)
            if "..." in what:
                before = self._common(before, after)
            return ComparedSides(("diff-tree", "-r", before.hash, after.hash), f"from {before.shown} to {after.shown}")
        if what.endswith(ONE_COMMIT):
            commit = self.commit(sides[0])
            parent = self._found(f"{commit.hash}^1")
            before = parent or self._nothing().hash
            return ComparedSides(("diff-tree", "-r", before, commit.hash), f"of commit {commit.shown}")
        if self._shadow.repository.top is None:
            raise RefusedError(NO_FILES_HERE)
        if what == STAGED:
            return ComparedSides(("diff-index", "--cached", self._head().hash), "that is staged")
        if what == UNSTAGED:
            return ComparedSides(("diff-files",), "that is not staged", with_untracked=True)
        if not what:
            title = "since the last commit, staged and not staged"
            return ComparedSides(("diff-index", self._head().hash), title, with_untracked=True)
        commit = self.commit(what)
        return ComparedSides(("diff-index", commit.hash), f"since {commit.shown}", with_untracked=True)

    def _common(self, before: Commit, after: Commit) -> Commit:
        base = self._shadow.run("merge-base", before.hash, after.hash)
        if base.code or not base.line:
            raise RefusedError(f"{before.name} and {after.name} have no commit in common")
        return Commit(f"where {before.name} and {after.name} part", base.line)


def _with(command: Sequence[str], options: Sequence[str]) -> tuple[str, ...]:
    return (command[0], *options, *command[1:])


def changed_in(data: bytes) -> list[Changed]:
    """Return the files in the output of `--raw --numstat -z`; names may hold anything but NUL."""
    parts = iter(data.split(b"\0"))
    found: dict[str, Changed] = {}
    for part in parts:
        if part.startswith(b":"):
            old_mode, new_mode, old_hash, new_hash, status = part[1:].decode("ascii", "replace").split(" ")
            old_path = os.fsdecode(next(parts)) if status[0] in TWO_PATHS else None
            path = os.fsdecode(next(parts))
            one = Changed(status[0], path, old_path, old_mode, new_mode, old_hash, new_hash)
            # A file in conflict is listed twice; that it is in conflict is what matters.
            if path not in found or found[path].status != UNMERGED:
                found[path] = one
        elif part:
            _count(part, parts, found)
    return list(found.values())


def _count(part: bytes, parts: Iterator[bytes], found: dict[str, Changed]) -> None:
    added, removed, path = part.split(b"\t", 2)
    if not path:  # of a renamed file, both names follow
        next(parts)
        path = next(parts)
    name = os.fsdecode(path)
    if name in found:
        is_binary = added == b"-"
        counts = (None, None) if is_binary else (int(added), int(removed))
        found[name] = replace(found[name], added=counts[0], removed=counts[1], is_binary=is_binary)
