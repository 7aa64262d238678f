"""Claude Code's logs: mostly one session per file, and one record per line."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import PurePosixPath

from conversation_mcp.importing.base import (
    ImportFormat,
    ImportProblem,
    Item,
    LeftOut,
    ReadOptions,
    Sourced,
    SourceFile,
)
from conversation_mcp.importing.entries import each_object
from conversation_mcp.importing.formats.claude_code_records import ENVELOPE, SPOKEN, Line, kind_of, line_of
from conversation_mcp.importing.formats.claude_code_turns import turns_of
from conversation_mcp.importing.messages import Data, count_named, joined, name_of, object_of, texts_of
from conversation_mcp.importing.trees import branches_of, path_to

TITLES = {"custom-title": "customTitle", "agent-name": "agentName", "ai-title": "aiTitle", "summary": "summary"}
"""Records that name the session, the best first, and the field with the name."""
REPEATED = {"queue-operation": "content", "last-prompt": "lastPrompt"}
"""Records whose words are repeated in another record once they are sent, and the field with the words."""
OTHER_RECORDS = frozenset({"system", "summary", "file-history-snapshot", "attachment", "progress", *TITLES, *REPEATED})
SESSION_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass
class _Session:
    """Records that are linked to each other or have the same session id."""

    id: str | None
    lines: dict[str, Line] = field(default_factory=dict[str, Line])
    parents: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    """The parents of all records, including those without words, which others may have as parents."""
    beginnings: set[str] = field(default_factory=set[str])
    """Questions without a parent, to which the records before them do not belong."""
    failures: list[str] = field(default_factory=list[str])
    """Records of calls that failed and were repeated."""
    titles: dict[str, str] = field(default_factory=dict[str, str])
    left_out: Counter[LeftOut] = field(default_factory=Counter["LeftOut"])


@dataclass
class _Log:
    """The sessions of a file, and what links records between them."""

    sessions: list[_Session] = field(default_factory=list[_Session])
    session_of: dict[str, _Session] = field(default_factory=dict[str, _Session])
    """By the names of their records."""
    repeated: list[tuple[_Session, str, str]] = field(default_factory=list["tuple[_Session, str, str]"])
    titles: list[tuple[_Session, str, str, str | None]] = field(
        default_factory=list["tuple[_Session, str, str, str | None]"]
    )

    def session(self, session_id: str | None) -> _Session:
        """Return the session with that id; for a record without one, the session written last."""
        for session in reversed(self.sessions):
            if session_id is None or session.id in {None, session_id}:
                session.id = session.id or session_id
                return session
        self.sessions.append(_Session(session_id))
        return self.sessions[-1]


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the line is a record of a session."""
    facts = object_of(entry)
    kind = name_of(facts.get("type"))
    return (kind in SPOKEN and "sessionId" in facts and "message" in facts) or (
        kind in OTHER_RECORDS and ("sessionId" in facts or "leafUuid" in facts or "snapshot" in facts)
    )


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the conversation of each session, without those of its subagents."""
    known: dict[str, str] = {}
    for file in files:
        log = _Log()
        for entry in each_object([file], reading):
            if isinstance(entry, ImportProblem):
                yield entry
            else:
                _take(log, object_of(entry.value), reading)
        _settle(log)
        for session, source_id in zip(log.sessions, _ids(file, log), strict=True):
            begins = _beginning(session)
            own_id = source_id if known.setdefault(source_id, begins) == begins else f"{source_id}/{begins}"
            yield from _conversations(file, session, own_id, reading)


def _beginning(session: _Session) -> str:
    """Return what distinguishes sessions with the same id: their first record and their first words."""
    words = (line.text for line in session.lines.values() if line.text)
    return sha256(f"{next(iter(session.parents), '')} {next(words, '')}".encode()).hexdigest()[:12]


def _take(log: _Log, record: Data, reading: ReadOptions) -> None:
    kind, name = name_of(record.get("type")) or "", name_of(record.get("uuid"))
    # The record of a compaction has no parent, and names here what came before it.
    parent = name_of(record.get("parentUuid")) or name_of(record.get("logicalParentUuid"))
    session = log.session_of.get(parent or "") or log.session(name_of(record.get("sessionId")))
    if kind in TITLES:
        title = name_of(record.get(TITLES[kind]))
        log.titles += [(session, kind, title, name_of(record.get("leafUuid")))] if title else []
    elif kind in REPEATED:
        log.repeated.append((session, kind, joined(texts_of(record.get(REPEATED[kind])))))
    elif kind in SPOKEN and record.get("isSidechain") is True:
        session.left_out["hidden messages"] += 1
    elif name or kind in SPOKEN:
        name = name or f"#{len(session.parents)}"
        line = line_of(record, reading, session.left_out)
        log.session_of[name] = session
        session.parents[name], session.lines[name] = parent, line
        if parent is None and "parentUuid" in record and line.role == "user" and line.speaks:
            session.beginnings.add(name)
        if name_of(record.get("subtype")) == "api_error":
            session.failures.append(name)
    else:
        count_named(kind_of(record), record, session.left_out, ENVELOPE)


def _settle(log: _Log) -> None:
    """Set the titles of sessions, count texts that were never sent, and reconnect records after repeated calls."""
    for session, kind, title, leaf in log.titles:
        # A summary may be written into the file of another session; its leaf tells whose it is.
        owner = log.session_of.get(leaf) if leaf else session
        if owner is None:
            session.left_out[kind] += 1
        else:
            owner.titles[kind] = title
    taken = {line.text.strip() for session in log.sessions for line in session.lines.values()}
    for session, kind, text in log.repeated:
        session.left_out[kind] += bool(text.strip()) and text.strip() not in taken
        taken.add(text.strip())
    for session in log.sessions:
        _join_repeated(session)


def _join_repeated(session: _Session) -> None:
    """Move the children of a failed call to the answer of the repeated call.

    That answer is a child of the question, like the failure, and would otherwise be another branch.
    """
    failures = set(session.failures)
    questions = {name: _before(name, failures, session.parents) for name in failures}
    asked = {question for question in questions.values() if question}
    answering: dict[str, str] = {}
    ends: dict[str, str] = {}
    for name, line in session.lines.items():
        parent = session.parents[name] or ""
        question = parent if parent in asked else answering.get(parent)
        if question and name not in failures and not (line.role == "user" and line.speaks):
            answering[name], ends[question] = question, name
    for name, parent in session.parents.items():
        if parent in failures and name not in failures and (end := ends.get(questions[parent] or "")):
            session.parents[name] = end


def _before(name: str, failures: Collection[str], parents: Mapping[str, str | None]) -> str | None:
    """Return the parent of a series of failures."""
    seen: set[str] = set()
    at: str | None = name
    while at is not None and at in failures and at not in seen:
        seen.add(at)
        at = parents[at]
    return at


def _ids(file: SourceFile, log: _Log) -> Iterator[str]:
    """Yield an id for each session: its own, unless the file is named after another one.

    Earlier versions always used the session's own id.
    """
    stem = PurePosixPath(file.name).stem
    is_named = SESSION_NAME.fullmatch(stem) is not None
    for place, session in enumerate(log.sessions):
        if not is_named:
            yield session.id or stem
        else:
            yield stem if place == 0 else f"{stem}/{session.id}"


def _conversations(file: SourceFile, session: _Session, source_id: str, reading: ReadOptions) -> Iterator[Item]:
    spoken = [name for name, line in session.lines.items() if line.speaks or line.error]
    main = _main(session, spoken)
    needed: dict[str, str | None] = {}
    for name in spoken:
        at: str | None = name
        while at in session.parents and at not in needed:
            needed[at] = at = session.parents[at]
    branches = branches_of(main, needed)
    stem = PurePosixPath(file.name).stem
    earlier = (session.id,) if session.id and source_id == stem != session.id else ()
    if not reading.all_branches:
        session.left_out["other branches"] += len(branches)
    if session.parents or session.titles or session.left_out.total():
        yield replace(_found(file, session, source_id, main, None), earlier_ids=earlier)
    for branch in branches if reading.all_branches else ():
        yield _found(file, session, f"{source_id}/{branch.id}", branch.path, source_id)


def _main(session: _Session, spoken: Sequence[str]) -> tuple[str, ...]:
    """Return the chain that ends last, with the records before its root, which a compaction cut off, in front."""
    place = {name: number for number, name in enumerate(session.parents)}
    places = [place[name] for name in spoken]
    chains: list[tuple[str, ...]] = []
    # The last one in the file, unless the file is in another order than the chain.
    inner = _ancestors(spoken, session.parents)
    end = next((number for number in range(len(spoken), 0, -1) if spoken[number - 1] not in inner), len(spoken))
    while end > 0:
        chains.append(path_to(spoken[end - 1], session.parents))
        if chains[-1][0] in session.beginnings:
            break
        end = bisect_left(places, min(place[name] for name in chains[-1]), 0, end - 1)
    return tuple(dict.fromkeys(name for chain in reversed(chains) for name in chain))


def _ancestors(names: Sequence[str], parents: Mapping[str, str | None]) -> set[str]:
    found: set[str] = set()
    for name in names:
        at = parents[name]
        while at is not None and at in parents and at not in found:
            found.add(at)
            at = parents[at]
    return found


def _found(file: SourceFile, session: _Session, source_id: str, path: Sequence[str], branch_of: str | None) -> Sourced:
    lines = [session.lines[name] for name in path]
    turns = turns_of(lines, session.left_out)
    times = [line.at for line in lines if line.at]
    return Sourced(
        id=source_id,
        place=file.name,
        messages=tuple(turns.messages),
        title=next((session.titles[kind] for kind in TITLES if kind in session.titles), None),
        created_at=min(times, default=None),
        updated_at=max(times, default=None),
        unanswered=tuple(turns.unanswered),
        failed=tuple(turns.failed),
        branch_of=branch_of,
        left_out=session.left_out if branch_of is None else Counter(),
    )


CLAUDE_CODE = ImportFormat("claude-code", "Claude Code's session logs", claims, read)
