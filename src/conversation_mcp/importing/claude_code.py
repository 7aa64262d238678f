"""Claude Code's logs: a session a file, a record a line."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from conversation_mcp.importing.base import Found, ImportFormat, Item, LeftOut, Problem, Reading, SourceFile
from conversation_mcp.importing.messages import (
    Data,
    answered,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    text_of,
    texts_of,
)
from conversation_mcp.importing.reading import each_object
from conversation_mcp.importing.trees import branches_of, path_to
from conversation_mcp.models import Message, Usage

TITLES = {"custom-title": "customTitle", "agent-name": "agentName", "ai-title": "aiTitle", "summary": "summary"}
"""Records that name the session, the best first, and the field with the name."""
SPOKEN = frozenset({"user", "assistant"})
NOT_SAID = ("<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-caveat>")
HIDING = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
OTHER_RECORDS = frozenset({"system", "summary", "file-history-snapshot", *TITLES})


@dataclass
class _Line:
    """What is kept of a record; results of tools, which are most of a log, are not."""

    role: str
    text: str = ""
    reasoning: str = ""
    at: datetime | None = None
    model: str | None = None
    answer_id: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    notices: tuple[str, ...] = ()


@dataclass
class _Session:
    lines: dict[str, _Line] = field(default_factory=dict[str, _Line])
    parents: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    titles: dict[str, str] = field(default_factory=dict[str, str])
    id: str | None = None
    left_out: Counter[LeftOut] = field(default_factory=Counter["LeftOut"])


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the line is a record of a session."""
    facts = object_of(entry)
    kind = name_of(facts.get("type"))
    return (kind in SPOKEN and "sessionId" in facts and "message" in facts) or (
        kind in OTHER_RECORDS and ("sessionId" in facts or "leafUuid" in facts or "snapshot" in facts)
    )


def read(files: Sequence[SourceFile], reading: Reading) -> Iterator[Item]:
    """Yield the conversation of each session, without those of its helpers."""
    for file in files:
        session = _Session()
        for entry in each_object([file], reading):
            if isinstance(entry, Problem):
                yield entry
            else:
                _take(session, object_of(entry.value), reading)
        yield from _conversations(file, session, reading)


def _take(session: _Session, record: Data, reading: Reading) -> None:
    kind = name_of(record.get("type"))
    session.id = session.id or name_of(record.get("sessionId"))
    if kind in TITLES and (title := name_of(record.get(TITLES[kind]))):
        session.titles[kind] = title
    if kind not in SPOKEN:
        return
    name = name_of(record.get("uuid")) or f"#{len(session.parents)}"
    if record.get("isSidechain") is True:
        session.left_out["hidden messages"] += 1
        return
    session.parents[name] = name_of(record.get("parentUuid"))
    session.lines[name] = _line(kind or "", record, reading, session.left_out)


def _line(role: str, record: Data, reading: Reading, left_out: Counter[LeftOut]) -> _Line:
    said = object_of(record.get("message"))
    blocks = [object_of(block) for block in list_of(said.get("content"))]
    kinds = [name_of(block.get("type")) for block in blocks]
    left_out["tool messages"] += sum(kind in {"tool_use", "tool_result"} for kind in kinds)
    texts = [text for text in texts_of(said.get("content")) if not text.lstrip().startswith(NOT_SAID)]
    if any(record.get(flag) is True for flag in HIDING):
        left_out["hidden messages"] += bool(joined(texts))
        return _Line(role)
    usage = object_of(said.get("usage"))
    tokens = {"input_tokens": usage.get("input_tokens"), "output_tokens": usage.get("output_tokens")}
    return _Line(
        role=role,
        text=joined(texts),
        reasoning=joined(text_of(block.get("thinking")) for block in blocks),
        at=reading.moment(record.get("timestamp")),
        model=name_of(said.get("model")),
        answer_id=name_of(said.get("id")),
        usage={name: count for name, count in tokens.items() if isinstance(count, int) and not isinstance(count, bool)},
        notices=missing([kind for kind in kinds if kind in {"image", "document"}], left_out),
    )


def _conversations(file: SourceFile, session: _Session, reading: Reading) -> Iterator[Item]:
    main = _main(session.parents)
    source_id = session.id or PurePosixPath(file.name).stem
    branches = [
        branch
        for branch in branches_of(main, session.parents)
        if any(_messages([session.lines[name] for name in branch.own]))
    ]
    if not reading.all_branches:
        session.left_out["other branches"] += len(branches)
    if session.parents or session.titles:
        yield _found(file, session, source_id, main, None)
    for branch in branches if reading.all_branches else ():
        yield _found(file, session, f"{source_id}/{branch.id}", branch.path, source_id)


def _main(parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the chain that ends last; what stands before its root, which a compaction cut off, comes first."""
    names = list(parents)
    place = {name: number for number, name in enumerate(names)}
    chains: list[str] = []
    end = len(names)
    while end > 0:
        chain = path_to(names[end - 1], parents)
        chains[:0] = chain
        end = min(place[name] for name in chain)
    return tuple(dict.fromkeys(chains))


def _found(file: SourceFile, session: _Session, source_id: str, path: Sequence[str], branch_of: str | None) -> Found:
    lines = [session.lines[name] for name in path]
    messages, unanswered = answered(list(_messages(lines)))
    times = [line.at for line in lines if line.at]
    return Found(
        id=source_id,
        place=file.name,
        messages=messages,
        title=next((session.titles[kind] for kind in TITLES if kind in session.titles), None),
        created_at=min(times, default=None),
        updated_at=max(times, default=None),
        unanswered=unanswered,
        branch_of=branch_of,
        left_out=session.left_out if branch_of is None else Counter(),
    )


def _messages(lines: Sequence[_Line]) -> Iterator[Message]:
    """Yield the messages; lines of one answer, which the tools between them separate, are one."""
    answer: list[_Line] = []
    for line in lines:
        if line.role == "assistant":
            answer.append(line)
        elif line.text.strip() or line.notices:
            yield from _answer(answer)
            answer = []
            content = line.text or "\n".join(f"({notice})" for notice in line.notices)
            yield message("user", content, line.at, notices=line.notices)
    yield from _answer(answer)


def _answer(lines: Sequence[_Line]) -> Iterator[Message]:
    content = joined(line.text for line in lines)
    if not content:
        return
    usage_of = {line.answer_id or number: line.usage for number, line in enumerate(lines)}
    tokens = {
        name: sum(usage.get(name, 0) for usage in usage_of.values())
        for name in ("input_tokens", "output_tokens")
        if any(name in usage for usage in usage_of.values())
    }
    yield message(
        "assistant",
        content,
        lines[-1].at,
        model=next((line.model for line in reversed(lines) if line.model), None),
        usage=Usage.told(**tokens),
        reasoning=joined(line.reasoning for line in lines),
    )


CLAUDE_CODE = ImportFormat("claude-code", "Claude Code's session logs", claims, read)
