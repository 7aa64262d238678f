"""The folder of the conversations: whose it is, whether git would commit it, what does not belong there."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from conversation_mcp.cli.checks.findings import Finding
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.ids import SHAPE, created_at
from conversation_mcp.records.models import Conversation
from conversation_mcp.settings import LoadedSettings, Settings
from conversation_mcp.stores.catalog import build_store
from conversation_mcp.stores.files.scan import EXPORT_STEM, FILE_NAME, find
from conversation_mcp.text import counted

PRIVATE_MODE = 0o700
WRITABLE_BY_OTHERS = 0o022
OWN_NAMES = frozenset({".gitignore", ".locks", ".calls", ".trash"})
SHOWN_STRAYS = 5


def check_folder(loaded: LoadedSettings) -> Iterable[Finding]:
    """Look at the folder and into it, but not into the files."""
    folder = loaded.settings.logs_dir
    where = f"conversations in {folder} (from {loaded.origins['logs_dir']})"
    if not folder.exists():
        yield Finding("ok", f"{where}; made at the first question")
        return
    try:
        count = sum(1 for _ in find(folder))
        mode = stat.S_IMODE(folder.stat().st_mode)
        strays = list(strays_in(folder))
    except (ConversationMCPError, OSError) as error:
        yield Finding("fail", f"{where}: {error}")
        return
    yield _access(f"{where}, {counted(count, 'file')}", folder, mode)
    yield from _git(folder)
    if strays:
        names = ", ".join(strays[:SHOWN_STRAYS])
        more = f" and {len(strays) - SHOWN_STRAYS} more" if len(strays) > SHOWN_STRAYS else ""
        yield Finding("warn", f"not read, copies or left over: {names}{more}; remove what you do not need")


def _access(what: str, folder: Path, mode: int) -> Finding:
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("fail", f"{what}, not writable for you ({mode:04o})")
    if os.name != "posix":
        return Finding("ok", f"{what}, writable")
    if mode == PRIVATE_MODE:
        return Finding("ok", f"{what}, writable, private ({mode:04o})")
    state = "warn" if mode & WRITABLE_BY_OTHERS else "ok"
    return Finding(state, f"{what}, writable; others see the ids in it ({mode:04o}), each conversation is private")


def strays_in(folder: Path) -> Iterable[str]:
    """Yield what is neither a conversation nor ours: copies that a file synchroniser made, drafts of dead writers."""
    for entry in sorted(folder.iterdir()):
        if entry.name in OWN_NAMES:
            continue
        if not SHAPE.fullmatch(entry.name) or not entry.is_dir():
            yield entry.name
            continue
        try:
            names = sorted(path.name for path in entry.iterdir())
        except PermissionError:  # whoever reads the conversations says so
            continue
        if FILE_NAME not in names:
            yield f"{entry.name} (no {FILE_NAME})"
        yield from (f"{entry.name}/{name}" for name in names if name != FILE_NAME and Path(name).stem != EXPORT_STEM)


def _git(folder: Path) -> Iterable[Finding]:
    git = shutil.which("git")
    if git is None:
        return
    probe = folder / "20000101-0946684800000" / FILE_NAME
    answer = subprocess.run(
        [git, "-C", str(folder), "check-ignore", "-q", str(probe)], check=False, capture_output=True
    )
    if answer.returncode == 0:
        yield Finding("ok", "git ignores them")
        yield from _tracked(git, folder)
    elif answer.returncode == 1:
        yield Finding("fail", f"git would commit them: put a .gitignore with * into {folder}")


def _tracked(git: str, folder: Path) -> Iterable[Finding]:
    """Look for what was committed before it was ignored: git goes on with that."""
    listed = subprocess.run([git, "-C", str(folder), "ls-files", "-z"], check=False, capture_output=True)
    names = [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name and name != b".gitignore"]
    if names:
        shown = ", ".join(names[:SHOWN_STRAYS]) + (", …" if len(names) > SHOWN_STRAYS else "")
        yield Finding(
            "warn",
            f"git tracks {counted(len(names), 'file')} of them all the same: {shown}; "
            f"`git rm -r --cached {folder}` ends that, and what was committed stays in git's history",
        )


def check_cache(folder: Path) -> Iterable[Finding]:
    """Name the files that can be deleted at any time, if there are any."""
    try:
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    except OSError as error:
        yield Finding("warn", f"the cache in {folder} cannot be looked at: {error.strerror}")
        return
    if sizes:
        amount = f"{counted(len(sizes), 'file')}, {sum(sizes) / 1_000_000:,.1f} MB"
        yield Finding("ok", f"cache in {folder}, {amount}; made anew when it is gone")


async def check_store(settings: Settings) -> Finding:
    """Write a conversation, change it and read it back, in a scratch folder on the same disk."""
    existing = next(path for path in (settings.logs_dir, *settings.logs_dir.parents) if path.is_dir())
    try:
        with tempfile.TemporaryDirectory(prefix=".conversation-mcp-doctor-", dir=existing) as scratch:
            store = build_store("files", settings.model_copy(update={"logs_dir": Path(scratch)}), utc_now)
            conversation_id = await store.reserve()
            now = created_at(conversation_id)
            await store.create(
                Conversation(
                    conversation_id=conversation_id, created_at=now, updated_at=now, message_count=0, messages=()
                )
            )
            lock = await store.acquire_turn(conversation_id, 0, _no_wait)
            await store.update(conversation_id, lambda stored, _: stored.changed(title="doctor"))
            await lock.release()
            intact = (await store.load(conversation_id)).title == "doctor"
    except (ConversationMCPError, OSError) as error:
        return Finding("fail", f"the store does not work in {existing}: {error}")
    return Finding("ok", "the store writes, locks and reads back") if intact else Finding("fail", "the store forgets")


async def _no_wait(_seconds: float) -> None:
    """Report a wait to nobody."""
