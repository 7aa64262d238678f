"""Conversations as lists and searches see them: their facts, filters, and pages of results."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

Pending = Literal["running", "interrupted", "failed"]
State = Literal["running", "interrupted", "failed", "completed", "archived"]
FoundBy = Literal["words", "meaning", "both"]
Facet = tuple[str, str]
"""A kind (tool, provider, model, tag) and a folded value."""
COMPLETED = "completed"
"""The kind of the facet that completed conversations have, with the same word as its value."""
RELATED = "related"
"""The kind of the facets of a conversation that names others as related, with their ids as values."""
SHOWN_PROBLEMS = 3


class Listed(NamedTuple):
    """A conversation in a list: stored facts, its present state, and for a query the part that matches best."""

    conversation_id: str
    title: str
    created_at: str
    updated_at: str
    updated_milliseconds: int
    message_count: int
    turn_count: int
    last_question: str | None = None
    last_tool: str | None = None
    cost_usd: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    size_bytes: int = 0
    """How large the file is."""
    pending: Pending | None = None
    problem: str | None = None
    """Why the last question has no answer."""
    runs_at_provider: bool = False
    """Whether a running turn continues when no process of this machine waits for it."""
    archived: bool = False
    ended_at: str | None = None
    """When it was completed; None while it goes on."""
    tags: tuple[str, ...] = ()
    parent_id: str | None = None
    """Of a branch: the conversation that it was branched from."""
    state: State | None = None
    """What became of the last question, or that it is completed or archived; not stored: it partly depends on locks."""
    snippet: str | None = None
    """The part that matches the query best; empty if it can no longer be read."""
    message_number: int | None = None
    """The number of the message with that part; None if the part is not in a message."""
    found_by: FoundBy | None = None
    """What found it, where meanings were compared, too."""


class MemoryFacts(NamedTuple):
    """A memory as searches see it."""

    memory_id: str
    content: str
    created_at: str
    created_milliseconds: int
    updated_at: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] | None = None
    message_number: int | None = None
    proposed_by: str | None = None
    """The model that proposed it, if one did."""
    embedding: Mapping[str, str] | None = None
    """The vector that was given with its text, as the file has it."""


class Indexed(NamedTuple):
    """All that is indexed of a file. Texts are by message number; 0 is for those outside of messages."""

    facts: Listed
    facets: frozenset[Facet]
    texts: Mapping[int, str]
    memories: tuple[MemoryFacts, ...] = ()


Describe = Callable[[bytes, str, "ConversationId"], Indexed]
"""Describes the bytes of a file, given its path and id; raises ConversationCorruptedError."""


class Wanted(NamedTuple):
    """A filter, which selects conversations that meet all conditions; archived ones only if that is the state."""

    query: str = ""
    facets: tuple[Facet, ...] = ()
    state: State | None = None
    after_milliseconds: int | None = None
    before_milliseconds: int | None = None


class WantedMemories(NamedTuple):
    """A filter, which selects memories that meet all conditions; those of archived conversations too."""

    query: str = ""
    conversation_id: "ConversationId | None" = None
    memory_id: str | None = None
    same_texts: tuple[str, ...] = ()
    """The hashes of the texts that they may have, as `records/memory_ids.py` makes them; empty for any text."""
    tags: tuple[str, ...] = ()
    """Folded; all of them."""
    since_milliseconds: int | None = None
    """Created since then."""
    least_share: float = 0.0
    """A memory with less than this share of the words of the query may be left out, so that the commonest of them need
    not be looked up; the score is then how many of the others it has."""


class FoundMemory(NamedTuple):
    """A memory and the conversation that it belongs to."""

    memory: MemoryFacts
    conversation_id: "ConversationId"
    title: str
    score: float = 0.0
    """How well its words match a query, more for a better match; without one, 0."""


class MemoryPage(NamedTuple):
    """Memories in order, each once, and what to know about the result."""

    found: tuple[FoundMemory, ...]
    has_more: bool
    unreadable_count: int
    problems: tuple[str, ...]
    is_complete: bool = True
    """As for conversations."""
    notices: tuple[str, ...] = ()


class Place(NamedTuple):
    """Where a page ended; for a query also how many were shown, and the time of the newest that takes part."""

    updated_milliseconds: int
    conversation_id: str
    shown: int = 0
    newest_milliseconds: int = 0


class Page(NamedTuple):
    """Conversations in order, and what to know about the result."""

    found: tuple[Listed, ...]
    next: Place | None
    unreadable_count: int
    problems: tuple[str, ...]
    """Why the first few of the unreadable ones cannot be read."""
    is_complete: bool = True
    """Whether the index has ever been compared with the whole folder."""
    notices: tuple[str, ...] = ()

    def with_notice(self, notice: str) -> "Page":
        """Return the page with another notice."""
        return self._replace(notices=(*self.notices, notice))


def with_state(facts: Listed, is_being_answered: Callable[[str], bool]) -> Listed:
    """Return the facts with the present state: a running turn that no process works on was interrupted."""
    state: State | None = facts.pending or ("completed" if facts.ended_at else None)
    if facts.archived:
        state = "archived"
    elif state == "running" and not facts.runs_at_provider and not is_being_answered(facts.conversation_id):
        state = "interrupted"
    return facts._replace(state=state) if state else facts
