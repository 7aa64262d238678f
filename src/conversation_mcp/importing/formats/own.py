"""Our own files: conversation.json itself, an exported array of them, or a folder of either."""

from base64 import b64decode
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import cast

from pydantic import ValidationError

from conversation_mcp.disk.files import MAX_FILE_BYTES
from conversation_mcp.importing.base import (
    ImportFormat,
    ImportProblem,
    Item,
    ReadOptions,
    Sourced,
    SourceFile,
)
from conversation_mcp.importing.entries import UNREADABLE, each_entry
from conversation_mcp.importing.messages import Data, list_of, name_of, object_of
from conversation_mcp.records.codec import settle
from conversation_mcp.records.damage import problem_of
from conversation_mcp.records.hashes import HASH, hash_of
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.layout import FILE_CONTENTS, FILES
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.origins import OWN as OWN_NAME
from conversation_mcp.text import storable_data

FIELDS = frozenset({"createdAt", "updatedAt", "messageCount", "messages"})


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry is one of ours, even if damaged, rather than another program's conversation with an id."""
    facts = object_of(entry)
    has_our_id = SHAPE.fullmatch(name_of(facts.get("conversationId")) or "") is not None
    return "conversationId" in facts and (
        facts.keys() >= FIELDS or (has_our_id and ("messages" in facts or "messageCount" in facts))
    )


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the conversations with all their fields."""
    for file in files:
        yield from each_entry((file,), reading, partial(_conversation, file))


def _conversation(file: SourceFile, entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    # A wrong count must not make a file unreadable that is otherwise whole.
    given = {**entry, "messageCount": len(list_of(entry.get("messages")))}
    exported = _exported(object_of(given.pop(FILE_CONTENTS))) if _has_contents(given) else {}
    try:
        read_back = Conversation.model_validate(storable_data(given), by_alias=True, by_name=False)
        conversation, _ = settle(_interrupted(read_back))
    except ValidationError as error:
        yield ImportProblem(place, problem_of(error))
    except (ValueError, RecursionError):
        yield ImportProblem(place, "cannot be written as a conversation again")
    else:
        yield Sourced(
            id=conversation.conversation_id,
            place=place,
            messages=conversation.messages,
            created_at=reading.moment(conversation.created_at),
            updated_at=reading.moment(conversation.updated_at),
            whole=conversation,
            contents=partial(_contents, exported, file),
        )


def _has_contents(entry: Data) -> bool:
    """Tell whether there is such a field as exports have, and not another one of that name."""
    field = entry.get(FILE_CONTENTS)
    return isinstance(field, dict) and all(map(HASH.fullmatch, cast("Data", field)))


def _exported(field: Data) -> dict[str, bytes]:
    """Return the contents in an export that are what they are said to be."""
    read = ((name, _bytes(object_of(written))) for name, written in field.items())
    return {name: data for name, data in read if data is not None and hash_of(data) == name}


def _bytes(written: Data) -> bytes | None:
    text, encoded = written.get("text"), written.get("base64")
    try:
        if isinstance(text, str):
            return text.encode()
        return b64decode(encoded, validate=True) if isinstance(encoded, str) else None
    except ValueError:
        return None


def _contents(exported: Mapping[str, bytes], file: SourceFile, hashes: Collection[str]) -> dict[str, bytes]:
    """Return contents from the export, or from the files beside it as the store keeps them."""
    found: dict[str, bytes] = {}
    for name in hashes:
        data = exported[name] if name in exported else _beside(file, name)
        if data is not None and len(data) <= MAX_FILE_BYTES:
            found[name] = data
    return found


def _beside(file: SourceFile, name: str) -> bytes | None:
    kept = file.beside.get(str(PurePosixPath(file.name).with_name(FILES) / name))
    if kept is None or kept.size > MAX_FILE_BYTES:
        return None
    try:
        with kept.open() as opened:
            data = opened.read(MAX_FILE_BYTES + 1)
    except UNREADABLE:
        return None
    return data if hash_of(data) == name else None


def _interrupted(conversation: Conversation) -> Conversation:
    """Return the conversation with a running question marked as interrupted: its process was elsewhere."""
    pending = conversation.pending_turn
    if pending is None or pending.status != "running":
        return conversation
    return conversation.changed(pending_turn=pending.model_copy(update={"status": "interrupted"}))


OWN = ImportFormat(OWN_NAME, "conversation-mcp's own files and exports", claims, read)
