"""What is kept, looked at whole: each file, what waits in it, what lies beside it, and the index. Changes nothing."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path

from conversation_mcp.cli.checks.findings import Finding
from conversation_mcp.cli.checks.folder import strays_in
from conversation_mcp.cli.output.progress import progress
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.order import order_problems
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import read_file
from conversation_mcp.disk.locks import is_being_answered
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.codec import decode
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.models import Conversation
from conversation_mcp.stores.files.calls import FORGET_AFTER
from conversation_mcp.stores.files.index.base import Index, Watch
from conversation_mcp.stores.files.scan import File, find
from conversation_mcp.text import counted

READING, COMPARING = "reading the conversations", "holding the index against them"
ANEW = "try conversation-mcp index --rebuild"
DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp\Z")
SHOWN = 3


def check_library(folder: Path, index: Index) -> Iterator[Finding]:
    """Yield what was found, one kind after the other."""
    try:
        with explained(folder):
            is_there = folder.exists()
        if not is_there:
            yield Finding("ok", f"there is no folder {folder} yet; it is made at the first question")
            return
        yield from _files(folder)
        yield from _beside(folder)
        yield from _index(index)
    except ConversationMCPError as error:
        yield Finding("fail", error.message)


def _files(folder: Path) -> Iterator[Finding]:
    files = sorted(find(folder), key=lambda file: file.conversation_id)
    watch, findings = Watch(total=len(files)), list[Finding]()
    with progress(READING, watch):
        for file in files:
            findings += _file(folder, file)
            watch.seen += 1
    yield from findings
    broken = sum(finding.state == "fail" for finding in findings)
    count = f"{counted(len(files), 'conversation')} in {folder}"
    if broken:
        yield Finding("fail", f"{count}, {broken:,} cannot be read; mend them by hand or restore a copy")
    else:
        yield Finding("ok", f"{count}, all can be read")


def _file(folder: Path, file: File) -> Iterator[Finding]:
    try:
        with explained(file.path, file.conversation_id):
            try:
                body = read_file(Path(file.path))
            except FileNotFoundError:  # deleted since the folder was listed
                return
        conversation = decode(body, file.path, file.conversation_id)
    except ConversationMCPError as error:
        yield Finding("fail", error.message)
        return
    problems = list(order_problems(conversation))
    for problem in problems[:SHOWN]:
        yield Finding("warn", f"{file.conversation_id}: {problem}")
    if len(problems) > SHOWN:
        yield Finding("warn", f"{file.conversation_id}: {len(problems) - SHOWN:,} more like that")
    yield from _pending(folder, conversation)


def _pending(folder: Path, conversation: Conversation) -> Iterable[Finding]:
    pending, name = conversation.pending_turn, conversation.conversation_id
    if pending is None:
        return
    if pending.status == "failed":
        yield Finding("ok", f"{name}: the last question failed; ask again, or ask another")
    elif is_being_answered(folder, name):
        yield Finding("ok", f"{name}: a question is being answered")
    elif pending.response_id:
        where = pending.provider or "its provider"
        yield Finding("warn", f"{name}: an answer may wait at {where}; get it with conversation-mcp resume {name}")
    else:
        yield Finding("warn", f"{name}: a question was interrupted; ask again, or ask another")


def _beside(folder: Path) -> Iterator[Finding]:
    """Look for what crashed writers, other programs and deleted conversations left behind."""
    drafts: list[str] = []
    with explained(folder):
        for stray in strays_in(folder):
            if DRAFT.search(stray):
                drafts.append(stray)
            else:
                yield Finding("warn", f"{stray} is no conversation and is not read; remove it if you do not need it")
        yield from _told("drafts of writes that are running, or were cut short", drafts)
        trashed = {path.name.partition(".")[0] for path in _in(folder / ".trash")}
        locks = [path.name for path in _in(folder / ".locks") if _is_orphan(path, trashed)]
        yield from _told("lock files of conversations that are gone", locks)
        calls = [path.name for path in _in(folder / ".calls") if _is_forgotten(path)]
        yield from _told("calls that are forgotten, which the next question removes", calls)


def _index(index: Index) -> Iterator[Finding]:
    watch = Watch()
    with progress(COMPARING, watch):
        check = index.check(watch)
    if check is None:
        yield Finding("ok", "there is no index yet; the first search makes it")
    elif check.damage is not None:
        yield Finding("fail", f"the index cannot be used: {check.damage}; {ANEW}")
    elif check.wrong:
        what = counted(len(check.wrong), "conversation")
        yield Finding("fail", f"the index is wrong about {what}: {_some(check.wrong)}; {ANEW}")
    else:
        changed = f"; {check.unseen_count:,} changed since, the next search reads them" if check.unseen_count else ""
        known = counted(check.known_count, "conversation")
        yield Finding("ok", f"the index agrees with the files of {known}{changed}")


def _told(what: str, names: Sequence[str]) -> Iterator[Finding]:
    if names:
        yield Finding("warn", f"{what} ({len(names):,}): {_some(names)}")


def _in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_orphan(lock: Path, trashed: Container[str]) -> bool:
    """Tell whether the lock is that of a conversation which is neither in the folder nor in its trash."""
    owner = lock.name.partition(".")[0]
    return SHAPE.fullmatch(owner) is not None and owner not in trashed and not (lock.parents[1] / owner).exists()


def _is_forgotten(call: Path) -> bool:
    try:
        return call.lstat().st_mtime < (utc_now() - FORGET_AFTER).timestamp()
    except FileNotFoundError:
        return False


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
