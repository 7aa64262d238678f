"""The folder of the earlier TypeScript server: `<id>/conversation.json`, and `status.json` beside some of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
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
from conversation_mcp.importing.entries import UNREADABLE, DamagedFileError, Entry, each_object, entries
from conversation_mcp.importing.messages import (
    Data,
    answered,
    count_named,
    list_of,
    message,
    name_of,
    object_of,
    text_of,
)
from conversation_mcp.records.ids import SHAPE, check_id, created_at
from conversation_mcp.records.models import Message, PendingTurn, Role, TurnError
from conversation_mcp.thinking.splitter import split_thinking

FIELDS = frozenset({"conversationId", "createdAt", "updatedAt", "messageCount", "messages"})
SAID = frozenset({"role", "content"})
ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


def claims(file: SourceFile, entry: object) -> bool:
    """Tell whether the folder of the file is named by an id, and the file has the five fields of the contract only."""
    facts, folder = object_of(entry), _folder(file)
    return (
        SHAPE.fullmatch(folder) is not None
        and "messages" in facts
        and FIELDS.issuperset(facts)
        and all(SAID.issuperset(object_of(said)) for said in list_of(facts["messages"]))
    )


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the conversations; the id is the name of the folder, whatever the file says."""
    for file in files:
        status = _status(file, reading)
        for entry in each_object([file], reading):
            yield entry if isinstance(entry, ImportProblem) else _conversation(file, entry, status, reading)


def _conversation(file: SourceFile, entry: Entry, status: Data, reading: ReadOptions) -> Item:
    facts = object_of(entry.value)
    if not isinstance(facts.get("messages"), list):
        return ImportProblem(entry.place, "has no messages")
    left_out: Counter[LeftOut] = Counter()
    said = [made for each in list_of(facts["messages"]) for made in _message(object_of(each), left_out)]
    messages, unanswered = answered(said)
    folder = _folder(file)
    source_id = folder if SHAPE.fullmatch(folder) else name_of(facts.get("conversationId")) or file.name
    return Sourced(
        id=source_id,
        place=entry.place,
        messages=messages,
        created_at=_moment_of(source_id, reading) or reading.moment(facts.get("createdAt")),
        updated_at=reading.moment(facts.get("updatedAt")),
        unanswered=(*unanswered[:-1], _told(unanswered[-1], status)) if unanswered else (),
        left_out=left_out,
    )


def _message(said: Data, left_out: Counter[LeftOut]) -> Iterator[Message]:
    role, text = ROLES.get(name_of(said.get("role")) or ""), text_of(said.get("content"))
    # That server left the reasoning in the text of the answer.
    visible, hidden, _ = split_thinking(text) if role == "assistant" else (text, "", False)
    if role and visible.strip():
        yield message(role, visible, reasoning=hidden)
    elif role is None or not text:
        count_named(said.get("role"), said, left_out, ("role",))


def _told(question: PendingTurn, status: Data) -> PendingTurn:
    """Add the unanswered question of status.json. Its run cannot be fetched, because that API no longer exists."""
    facts: dict[str, object] = {"tool": name_of(status.get("toolName")), "started_at": name_of(status.get("startedAt"))}
    if name_of(status.get("status")) in {"failed", "cancelled"}:
        error = object_of(status.get("error"))
        code, why = name_of(error.get("code")) or "PROVIDER_UNAVAILABLE", name_of(error.get("message"))
        facts |= {"status": "failed", "error": TurnError(code=code, message=why or "the earlier server gave no reason")}
    return question.model_copy(update={name: value for name, value in facts.items() if value is not None})


def _status(file: SourceFile, reading: ReadOptions) -> Data:
    """Return the content of status.json beside the file; an empty object if it cannot be read."""
    beside = file.beside.get(str(PurePosixPath(file.name).with_name("status.json")))
    try:
        found = next(entries(beside, reading.on_read), None) if beside else None
    except (DamagedFileError, *UNREADABLE):
        return {}
    return object_of(found.value) if isinstance(found, Entry) else {}


def _folder(file: SourceFile) -> str:
    if file.path is not None:
        return file.path.absolute().parent.name
    return PurePosixPath(file.name).parent.name


def _moment_of(source_id: str, reading: ReadOptions) -> datetime | None:
    return reading.moment(created_at(check_id(source_id))) if SHAPE.fullmatch(source_id) else None


EARLIER_SERVER = ImportFormat("perplexity-mcp-server", "the earlier TypeScript server's folder", claims, read)
