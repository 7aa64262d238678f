"""Our own files: conversation.json itself, an exported array of them, or a folder of either."""

from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from conversation_mcp.importing.base import (
    ImportFormat,
    ImportProblem,
    Item,
    ReadOptions,
    Sourced,
    SourceFile,
)
from conversation_mcp.importing.entries import each_entry
from conversation_mcp.importing.messages import Data, list_of, name_of, object_of
from conversation_mcp.records.codec import settle
from conversation_mcp.records.damage import problem_of
from conversation_mcp.records.ids import SHAPE
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
    yield from each_entry(files, reading, _conversation)


def _conversation(entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    given = {**entry, "messageCount": len(list_of(entry.get("messages")))}
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
        )


def _interrupted(conversation: Conversation) -> Conversation:
    """Return the conversation with a running question marked as interrupted: its process was elsewhere."""
    pending = conversation.pending_turn
    if pending is None or pending.status != "running":
        return conversation
    return conversation.changed(pending_turn=pending.model_copy(update={"status": "interrupted"}))


OWN = ImportFormat(OWN_NAME, "conversation-mcp's own files and exports", claims, read)
