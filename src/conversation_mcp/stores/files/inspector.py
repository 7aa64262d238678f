"""Checks of the folder of conversations: who can access it, whether git would commit it, what does not belong there."""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from conversation_mcp.disk.faults import explained
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.findings import SHOWN, Finding, some
from conversation_mcp.records.hashes import HASH
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.layout import (
    AUDIT,
    CALLS,
    ENCRYPTION_FILE,
    EXPORT_STEM,
    FILE_NAME,
    FILES,
    KEY_FILE,
    LIMITS,
    LOCKS,
    MARKS,
    OWNER_FILE,
    OWNERS,
    TRASH,
    UNWRITTEN,
)
from conversation_mcp.stores.files.calls import FORGET_AFTER
from conversation_mcp.stores.files.scan import find
from conversation_mcp.text import counted

PRIVATE_MODE = 0o700
WRITABLE_BY_OTHERS = 0o022
OWN_NAMES = frozenset({".gitignore", LOCKS, CALLS, LIMITS, MARKS, TRASH, OWNERS, AUDIT, OWNER_FILE, ENCRYPTION_FILE})
SHOWN_STRAYS = 5
DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp\Z")


class FolderInspector:
    """Checks a folder and the names in it, but does not read the files; satisfies Inspector."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._now = now

    def absence(self) -> str | None:
        """Return a sentence that there is no folder yet."""
        with explained(self._folder):
            is_there = self._folder.exists()
        return None if is_there else f"there is no folder {self._folder} yet; it is made at the first question"

    def check_place(self, named: str) -> Iterable[Finding]:
        """Check the permissions of the folder, git, and files that are not conversations."""
        folder = self._folder
        if not folder.exists():
            yield Finding("ok", f"{named}; made at the first question")
            return
        try:
            count = sum(1 for _ in find(folder))
            mode = stat.S_IMODE(folder.stat().st_mode)
            strays = list(self._strays())
        except (ConversationMCPError, OSError) as error:
            yield Finding("fail", f"{named}: {error}")
            return
        yield self._access(f"{named}, {counted(count, 'file')}", mode)
        yield from self._git()
        if strays:
            names = ", ".join(strays[:SHOWN_STRAYS])
            more = f" and {len(strays) - SHOWN_STRAYS} more" if len(strays) > SHOWN_STRAYS else ""
            yield Finding("warn", f"ignored copies or leftovers: {names}{more}; remove what you do not need")

    def check_leftovers(self) -> Iterable[Finding]:
        """Find drafts, locks and calls that are no longer needed, and files that are not conversations."""
        drafts: list[str] = []
        with explained(self._folder):
            for stray in self._strays():
                if DRAFT.search(stray):
                    drafts.append(stray)
                else:
                    text = f"{stray} is not a conversation and is ignored; remove it if you do not need it"
                    yield Finding("warn", text)
            yield from _told("drafts of running or interrupted writes", drafts)
            trashed = {path.name.partition(".")[0] for path in _in(self._folder / TRASH)}
            locks = [path.name for path in _in(self._folder / LOCKS) if self._is_orphan(path.name, trashed)]
            yield from _told("lock files of conversations that are gone", locks)
            calls = [path.name for path in _in(self._folder / CALLS) if self._is_forgotten(path)]
            yield from _told("expired calls, which the next question removes", calls)

    def _access(self, what: str, mode: int) -> Finding:
        if not os.access(self._folder, os.W_OK | os.X_OK):
            return Finding("fail", f"{what}, not writable by you ({mode:04o})")
        if os.name != "posix":
            return Finding("ok", f"{what}, writable")
        if mode == PRIVATE_MODE:
            return Finding("ok", f"{what}, writable, private ({mode:04o})")
        state = "warn" if mode & WRITABLE_BY_OTHERS else "ok"
        return Finding(state, f"{what}, writable; others can see the ids ({mode:04o}), but no conversation")

    def _strays(self) -> Iterable[str]:
        """Yield what does not belong here, such as copies made by a file synchroniser and drafts of dead writers."""
        for entry in sorted(self._folder.iterdir()):
            if entry.name in OWN_NAMES:
                continue
            if not SHAPE.fullmatch(entry.name) or not entry.is_dir():
                yield entry.name
                continue
            try:
                names = sorted(path.name for path in entry.iterdir())
            except PermissionError:  # reported when the conversation is read
                continue
            if FILE_NAME not in names:
                yield f"{entry.name} (no {FILE_NAME})"
            yield from (f"{entry.name}/{name}" for name in names if not _is_own(entry / name))
            if FILES in names:
                others = [path.name for path in _in(entry / FILES) if not HASH.fullmatch(path.name)]
                yield from (f"{entry.name}/{FILES}/{name}" for name in others)

    def _git(self) -> Iterable[Finding]:
        git = shutil.which("git")
        if git is None:
            return
        probe = self._folder / "20000101-0946684800000" / FILE_NAME
        answer = subprocess.run(
            [git, "-C", str(self._folder), "check-ignore", "-q", str(probe)], check=False, capture_output=True
        )
        if answer.returncode == 0:
            yield Finding("ok", "git ignores them")
            yield from self._tracked(git)
        elif answer.returncode == 1:
            yield Finding("fail", f"git would commit them: put a .gitignore with * into {self._folder}")

    def _tracked(self, git: str) -> Iterable[Finding]:
        """Find files that were committed before they were ignored: git continues to track those."""
        listed = subprocess.run([git, "-C", str(self._folder), "ls-files", "-z"], check=False, capture_output=True)
        names = [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name and name != b".gitignore"]
        if names:
            yield Finding(
                "warn",
                f"git still tracks {counted(len(names), 'file')} of them: {some(names, SHOWN_STRAYS)}; "
                f"`git rm -r --cached {self._folder}` ends that, but what was committed stays in git's history",
            )

    def _is_orphan(self, lock: str, trashed: Container[str]) -> bool:
        """Tell whether the conversation of the lock is neither in the folder nor in its trash."""
        owner = lock.partition(".")[0]
        return SHAPE.fullmatch(owner) is not None and owner not in trashed and not (self._folder / owner).exists()

    def _is_forgotten(self, call: Path) -> bool:
        try:
            return call.lstat().st_mtime < (self._now() - FORGET_AFTER).timestamp()
        except FileNotFoundError:
            return False


def _is_own(path: Path) -> bool:
    """Tell whether a name beside the file of a conversation is one that this program gives."""
    if path.name == FILES:
        return path.is_dir() and not path.is_symlink()
    return path.name in {FILE_NAME, UNWRITTEN, KEY_FILE} or path.stem == EXPORT_STEM


def _told(what: str, names: Sequence[str]) -> Iterator[Finding]:
    if names:
        yield Finding("warn", f"{what} ({len(names):,}): {some(names, SHOWN)}")


def _in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
