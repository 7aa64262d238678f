"""The results of the tools of memories, and what they share."""

from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from conversation_mcp.conversations.memories import KeptMemory
from conversation_mcp.conversations.memory_ranking import RankedMemory
from conversation_mcp.conversations.phrases import SOMEBODYS_WORDS, dotted, minute, noted, paragraphs
from conversation_mcp.records.found import FoundBy, FoundMemory
from conversation_mcp.records.record import Record
from conversation_mcp.text import counted


class MemoryAlike(Record):
    """A memory that says nearly the same."""

    memory_id: str
    """Its id."""
    conversation_id: str
    """The conversation that it belongs to."""
    content: str
    """Its text."""
    similarity: float
    """How much the two have in common, from 0 to 1."""


class StoredMemory(Record):
    """A memory that was stored, or was there already."""

    conversation_id: str
    """The conversation that it belongs to."""
    memory_id: str
    """Its id."""
    stored_at: str
    """When it was stored."""
    dimension: int | None = None
    """The length of its vector; absent if only its words are known yet."""
    duplicates: tuple[MemoryAlike, ...] | None = None
    """Memories that say nearly the same."""
    notices: tuple[str, ...] | None = None
    """What was not done as asked."""


class ShownMemory(Record):
    """A memory in a result."""

    memory_id: str
    """Its id."""
    content: str
    """Its text."""
    similarity: float | None = None
    """How much it has in common with the question, from 0 to 1: of its words or, if that is more, of its meaning."""
    found_by: FoundBy | None = None
    """What found it: words, meaning or both."""
    created_at: str
    """When it was stored."""
    updated_at: str | None = None
    """When it was last changed."""
    tags: tuple[str, ...] | None = None
    """Its tags."""
    metadata: dict[str, JsonValue] | None = None
    """The facts that its writer added."""
    conversation_id: str
    """The conversation that it belongs to."""
    title: str
    """The title of that conversation."""
    message_number: int | None = None
    """The message that it came from."""
    proposed_by: str | None = None
    """The model that proposed it."""


class MemoriesFound(Record):
    """Memories that were found."""

    results: tuple[ShownMemory, ...]
    """The memories: best first for a question, else newest first."""
    has_more: bool | None = None
    """Whether there are more after these."""
    search_time_ms: int | None = None
    """How long the search took."""
    notices: tuple[str, ...] | None = None
    """What is missing or was not done as asked."""


class KnownPlace(Record):
    """Where something that is known was said."""

    kind: str
    """memory, summary or message."""
    text: str
    """What was said."""
    at: str
    """When."""
    conversation_id: str
    """The conversation."""
    message_number: int | None = None
    """The message."""
    memory_id: str | None = None
    """The memory."""


class KnownContext(Record):
    """What is known of something."""

    results: tuple[KnownPlace, ...]
    """What was said, each once, memories first."""
    left_out_count: int | None = None
    """How many texts did not fit into the budget."""


class KeptDecision(Record):
    """A decision that a model proposed, as a memory with the tag `decision`."""

    memory_id: str
    """The id of the memory; whoever disagrees deletes it."""
    content: str
    """Its text."""
    message_number: int | None = None
    """The message that it comes from."""
    proposed_by: str | None = None
    """The model that proposed it."""


class OpenedConversation(Record):
    """A conversation that was opened or completed."""

    conversation_id: str
    """Its id."""
    status: str
    """created or completed."""
    title: str
    """Its title."""
    created_at: str
    """When it was opened."""
    ended_at: str | None = None
    """When it was completed."""
    summary: str | None = None
    """What came of it."""
    decisions: tuple[KeptDecision, ...] | None = None
    """The decisions that were found in it, if the settings name a model that looks for them."""
    notices: tuple[str, ...] | None = None
    """What was replaced before it was stored, and what came of the search for decisions."""


def shown(found: FoundMemory, similarity: float | None = None, by: FoundBy | None = None) -> ShownMemory:
    """Return the memory as results show it."""
    memory = found.memory
    return ShownMemory.of(
        memory_id=memory.memory_id,
        content=memory.content,
        similarity=similarity,
        found_by=by,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        tags=memory.tags or None,
        metadata=dict(memory.metadata) if memory.metadata else None,
        conversation_id=found.conversation_id,
        title=found.title,
        message_number=memory.message_number,
        proposed_by=memory.proposed_by,
    )


def alike(ranked: RankedMemory) -> MemoryAlike:
    """Return a memory that says nearly the same."""
    found = ranked.found
    return MemoryAlike(
        memory_id=found.memory.memory_id,
        conversation_id=found.conversation_id,
        content=found.memory.content,
        similarity=ranked.similarity,
    )


def stored(kept: KeptMemory) -> StoredMemory:
    """Return what became of a memory that was to be stored."""
    there = "the same text was stored already, so it was not stored again"
    notices = kept.notices if kept.conversation else (*kept.notices, there)
    return StoredMemory.of(
        conversation_id=kept.found.conversation_id,
        memory_id=kept.found.memory.memory_id,
        stored_at=kept.found.memory.created_at,
        dimension=kept.dimension,
        duplicates=tuple(map(alike, kept.alike)) or None,
        notices=notices or None,
    )


def render_stored(result: StoredMemory) -> str:
    """Return where the memory is, and which say nearly the same."""
    near = [f"- {each.memory_id} in {each.conversation_id}: {each.content}" for each in result.duplicates or ()]
    return paragraphs(
        f"Memory {result.memory_id} · conversation {result.conversation_id}",
        "\n".join((f"Nearly the same. {SOMEBODYS_WORDS}", *near)) if near else "",
        noted(result.notices),
    )


def render_found(result: MemoriesFound) -> str:
    """Return the memories with their dates and places, framed as somebody's words."""
    if not result.results:
        return paragraphs("No memories were found.", noted(result.notices))
    return paragraphs(SOMEBODYS_WORDS, *map(_memory, result.results), noted(result.notices))


def _memory(memory: ShownMemory) -> str:
    message = f"message {memory.message_number}" if memory.message_number else ""
    head = dotted(memory.memory_id, minute(memory.created_at), f"{memory.conversation_id} ({memory.title})", message)
    tags = f"tags: {', '.join(memory.tags)}" if memory.tags else ""
    by = " (meaning alone)" if memory.found_by == "meaning" else ""
    match = f"similarity {memory.similarity:.2f}{by}" if memory.similarity is not None else ""
    return f"{dotted(head, tags, match)}\n{memory.content}"


def render_known(result: KnownContext) -> str:
    """Return what is known with its places, framed as somebody's words."""
    if not result.results:
        return "Nothing is known of it."
    said = (f"{dotted(each.kind, minute(each.at), _place(each))}\n{each.text}" for each in result.results)
    more = f"{counted(result.left_out_count, 'text')} did not fit." if result.left_out_count else ""
    return paragraphs(SOMEBODYS_WORDS, *said, more)


def _place(known: KnownPlace) -> str:
    message = f"message {known.message_number}" if known.message_number else ""
    return dotted(known.conversation_id, message, known.memory_id)


def render_opened(result: OpenedConversation) -> str:
    """Return the line of a conversation that was opened or completed."""
    line = dotted(f"Conversation {result.conversation_id} {result.status}", result.title)
    return paragraphs(line, result.summary, "\n".join(_decisions(result.decisions or ())), noted(result.notices))


def _decisions(kept: Iterable[KeptDecision]) -> Iterator[str]:
    for number, each in enumerate(kept):
        if not number:
            yield "Decisions that a model proposes, kept as memories; delete those that are wrong:"
        yield f"- {each.memory_id} (message {each.message_number}): {each.content}"


class ForgottenMemory(Record):
    """A memory that is gone."""

    memory_id: str
    """Its id."""
    conversation_id: str
    """The conversation that it belonged to."""
    memory_count: int
    """How many memories that one still has."""


def render_forgotten(result: ForgottenMemory) -> str:
    """Return that the memory is gone."""
    return f"Memory {result.memory_id} is forgotten · conversation {result.conversation_id}"
