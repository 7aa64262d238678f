"""The port of the index: finds conversations among many. Derived from what is stored, never the truth.

It knows no records, and every call blocks: the command line asks it directly, the server in a thread.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from conversation_mcp.models import ConversationId

Pending = Literal["running", "interrupted", "failed"]
State = Literal["running", "interrupted", "failed", "archived"]
SHOWN_PROBLEMS = 3

Facet = tuple[str, str]
"""A kind (tool, provider, model, tag) and a folded value."""


@dataclass(frozen=True)
class Facts:
    """What a list shows of a conversation."""

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
    """Whether a running turn goes on when no process of this machine waits for it."""
    archived: bool = False
    tags: tuple[str, ...] = ()
    parent_id: str | None = None
    """Of a branch, the conversation that it comes from."""


@dataclass(frozen=True)
class Described:
    """All that the index takes from a file: facts, what to filter by, and texts by message number, 0 for the rest."""

    facts: Facts
    facets: frozenset[Facet]
    texts: Mapping[int, str]


Describe = Callable[[bytes, str, "ConversationId"], Described]
"""Reads the bytes of a file, which has a path and an id; raises ConversationCorruptedError."""


@dataclass(frozen=True)
class Wanted:
    """Which conversations: those that have all of it. Archived ones only if that is the state."""

    query: str = ""
    facets: tuple[Facet, ...] = ()
    state: State | None = None
    after_milliseconds: int | None = None
    before_milliseconds: int | None = None


@dataclass(frozen=True)
class Place:
    """Where a page ended; for a query also how many were shown, and the newest time that counts."""

    updated_milliseconds: int
    conversation_id: str
    shown: int = 0
    newest_milliseconds: int = 0


@dataclass(frozen=True)
class Found:
    """A conversation as its file is now; for a query, the place that fits it best."""

    facts: Facts
    state: State | None = None
    snippet: str | None = None
    message_number: int | None = None


@dataclass(frozen=True)
class Page:
    """Conversations in order, and what a reader must know beside them."""

    found: tuple[Found, ...]
    next: Place | None
    unreadable_count: int
    problems: tuple[str, ...]
    """Why the first few of them cannot be read."""
    is_complete: bool = True
    """Whether the index has ever been compared with the whole folder."""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standing:
    """How much the index knows: of how many conversations, and when that was last compared with the folder."""

    conversation_count: int
    compared_at: datetime | None


@dataclass(frozen=True)
class Check:
    """How the index stands against the files."""

    damage: str | None = None
    """Why it cannot be looked into."""
    known_count: int = 0
    unseen_count: int = 0
    """How many conversations were added, changed or removed since the folder was compared."""
    wrong: tuple[str, ...] = ()
    """The ids of those of which it says something else than their files, which have not changed since."""


@dataclass
class Watch:
    """What a comparison tells while it runs, and the wish that it stops."""

    total: int | None = None
    """How many conversations there are to look at; counted only when that takes long."""
    seen: int = 0
    is_stopped: bool = False


def state_of(facts: Facts, is_being_answered: Callable[[str], bool]) -> State | None:
    """Return what is true now: a running turn that nobody works on any more was interrupted."""
    if facts.archived:
        return "archived"
    if facts.pending == "running" and not facts.runs_at_provider and not is_being_answered(facts.conversation_id):
        return "interrupted"
    return facts.pending


class Index(Protocol):
    """Finds conversations. An index that cannot be kept is made anew in memory, which a notice of each page says."""

    @property
    def location(self) -> str:
        """The folder with its files, whether or not they exist."""
        ...

    def obstacle(self) -> str | None:
        """Return why the index cannot be kept in files, None if it can."""
        ...

    def note(self, conversation_id: "ConversationId") -> None:
        """Remember that the conversation was written; does not block."""
        ...

    def take_in_noted(self) -> None:
        """Read the conversations that were noted."""
        ...

    def standing(self) -> Standing:
        """Tell how much is known."""
        ...

    def compare(self, watch: Watch) -> None:
        """Read what is new or changed in the folder and drop what is gone.

        Raises:
            FilesystemError: the folder cannot be read.
        """
        ...

    def page(self, wanted: Wanted, limit: int, place: Place | None = None) -> Page:
        """Return the next conversations: newest first, for a query best first; each read again if its file changed."""
        ...

    def check(self, watch: Watch) -> Check | None:
        """Hold what is known against the files and change nothing; None if there is no index yet.

        Raises:
            FilesystemError: the folder cannot be read.
        """
        ...

    def rebuild(self, watch: Watch) -> None:
        """Throw everything away and read all files."""
        ...

    def erase(self, ids: "Collection[ConversationId]") -> None:
        """Take the conversations in, and leave nothing of those that are gone in the files of the index.

        Raises:
            IndexNotErasedError: the files cannot be written.
        """
        ...

    def purge_orphans(self) -> None:
        """Remove the indexes of folders that are gone."""
        ...


def compared_page(
    index: Index, wanted: Wanted, limit: int, place: Place | None = None, watch: Watch | None = None
) -> Page:
    """Compare and return a page; once more if the index was lost in between. Raises as `Index.compare`."""
    watch = watch or Watch()
    index.compare(watch)
    page = index.page(wanted, limit, place)
    if page.is_complete or watch.is_stopped:
        return page
    index.compare(watch)
    return index.page(wanted, limit, place)
