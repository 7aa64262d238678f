"""The port of the finder, which finds conversations among many and reads them without validation.

Every call blocks: the command line calls it directly, the server in a thread. Nothing here imports the records, because
importing pydantic takes longer than a whole `list`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from conversation_mcp.records.found import Listed, MemoryPage, Page, Place, Wanted, WantedMemories
from conversation_mcp.records.plain import Data
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.records.findings import Finding
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.searching.vectors.base import KeptVectors
    from conversation_mcp.searching.vectors.near import Neighbourhood
    from conversation_mcp.searching.vectors.pieces import TextSource

PAGE = 500
"""The most conversations held in memory at a time, however many are asked for."""


class Standing(NamedTuple):
    """How many conversations an index knows, and when it was last compared with what is stored."""

    conversation_count: int
    compared_at: datetime | None


class Check(NamedTuple):
    """The differences between an index and what is stored."""

    damage: str | None = None
    """Why the index cannot be read."""
    known_count: int = 0
    unseen_count: int = 0
    """How many conversations were added, changed or removed since the last comparison."""
    wrong: tuple[str, ...] = ()
    """The ids of conversations that have not changed since, but of which the index is wrong."""


class Index(Protocol):
    """Data derived from the conversations to find them quickly. A finder may do without; it is never the truth."""

    @property
    def location(self) -> str:
        """Its path, for people, whether or not it exists."""
        ...

    @property
    def is_kept(self) -> bool:
        """Whether it outlives this process. One that does not holds words that are encrypted elsewhere."""
        ...

    @property
    def build_seconds(self) -> float | None:
        """How long it took to build one that is not kept; None if it was not built yet."""
        ...

    def size_bytes(self) -> int | None:
        """Return its size, None if it does not exist. Raises OSError if the size cannot be read."""
        ...

    def obstacle(self) -> str | None:
        """Return why it cannot be written, None if it can."""
        ...

    def standing(self) -> Standing:
        """Return how much it knows."""
        ...

    def check(self, headway: Headway) -> Check | None:
        """Compare the index with what is stored, and change nothing; return None if it does not exist yet.

        Raises:
            FilesystemError: the place cannot be read.
        """
        ...

    def rebuild(self, headway: Headway) -> None:
        """Discard the index and build it again from all conversations."""
        ...


class Inspector(Protocol):
    """Looks for problems of the place itself that a person should see to. Changes nothing."""

    def absence(self) -> str | None:
        """Return a sentence that the place does not exist yet; None if it does.

        Raises:
            FilesystemError: whether it exists cannot be determined.
        """
        ...

    def check_place(self, named: str) -> "Iterable[Finding]":
        """Check who can access the place and what does not belong there.

        `named` is the place and the setting that names it, as findings show them.
        """
        ...

    def check_leftovers(self) -> "Iterable[Finding]":
        """Find what crashed writers, other programs and deleted conversations left behind.

        Raises:
            FilesystemError: the place cannot be read.
        """
        ...


class KeptContents(Protocol):
    """The contents of files and images that the questions of conversations name, for readers that block."""

    def get(self, conversation_id: "ConversationId", hashes: Collection[str]) -> Mapping[str, bytes]:
        """Return the contents by their hashes; what is missing, or does not have its hash any more, is left out.

        Raises:
            FilesystemError: one is there and cannot be read.
        """
        ...

    def sizes(self, conversation_id: "ConversationId") -> Mapping[str, int]:
        """Return the sizes in bytes of all that is kept, by hash; empty for an unknown conversation."""
        ...


class TextVectors(NamedTuple):
    """The vectors of texts of one kind, and the texts they are made of."""

    vectors: "KeptVectors"
    source: "TextSource"


class Finder(Protocol):
    """Finds conversations. Every call raises FilesystemError if the place cannot be read."""

    @property
    def place(self) -> str:
        """The place where everything is kept, for people: a path, or an address without secrets."""
        ...

    @property
    def folder(self) -> Path | None:
        """The folder of the conversations; None for a store that has none."""
        ...

    @property
    def index(self) -> Index | None:
        """The index; None for a store that answers without one."""
        ...

    @property
    def turns(self) -> TextVectors | None:
        """What finds turns by their meaning, in groups by conversation; None for a store that finds words alone."""
        ...

    @property
    def remembered(self) -> TextVectors | None:
        """What finds memories by their meaning, in groups by the hash of their text; None as for turns."""
        ...

    @property
    def attachments(self) -> KeptContents:
        """The contents that the questions of these conversations name."""
        ...

    @property
    def inspector(self) -> Inspector:
        """The inspector of the place."""
        ...

    def location(self, conversation_id: str) -> str:
        """Return the absolute path of the conversation's file, for people."""
        ...

    def refresh(self, headway: Headway) -> None:
        """Take in what other processes have written since, which takes a while if there are many conversations."""
        ...

    def take_in_written(self) -> None:
        """Take in what this process has written."""
        ...

    def page(
        self, wanted: Wanted, limit: int, place: Place | None = None, around: "Neighbourhood | None" = None
    ) -> Page:
        """Return the next conversations, as they are now: newest first, for a query best first.

        For a query, the turns of `around`, which are near it in meaning, are ranked with what its words find.

        Those that other processes have added since `refresh` may be missing; `is_complete` is false if it was never
        called.
        """
        ...

    def memories(self, wanted: WantedMemories, limit: int, skip: int = 0) -> MemoryPage:
        """Return memories after the first `skip`, as they are now: newest first, for a query best first.

        One that several conversations have is returned once. Those that other processes have added since `refresh` may
        be missing.
        """
        ...

    def newest(self, limit: int | None = None, begins: str = "", *, archived: bool = False) -> Page:
        """Return the newest conversations whose ids begin with `begins`. It needs no `refresh`.

        They are either all archived or all not.
        """
        ...

    def every_newest(self, limit: int | None, headway: Headway) -> Iterator[Page]:
        """Yield pages of the newest conversations that are not archived, in the quickest way for their number."""
        ...

    def largest(self, limit: int | None = None) -> Page:
        """Return the largest conversations, without archived ones."""
        ...

    def ids(self, begins: str = "") -> "list[ConversationId]":
        """Return the ids that begin with `begins`, in order, including those of conversations that cannot be read."""
        ...

    def facts(self, ids: "Iterable[ConversationId]") -> Iterator[Listed]:
        """Yield what lists show of these conversations, skipping those that are gone or cannot be read."""
        ...

    def known(self, conversation_id: "ConversationId") -> Listed | None:
        """Return what lists show of the conversation if that is known without reading it; else None.

        What is known is up to date: the conversation has not changed since it was last read, and could be read then.
        """
        ...

    def contents(
        self, headway: Headway, problems: list[str], written_since: datetime | None = None
    ) -> "Iterator[tuple[ConversationId, Data]]":
        """Yield each conversation as plain data, in no particular order, including archived ones and the trash.

        For each that cannot be read, the reason is added to `problems`. Conversations last written before
        `written_since` may be left out.
        """
        ...

    def read(self, conversation_id: "ConversationId") -> bytes:
        """Return the bytes of conversation.json, unchanged if the store keeps such files.

        Raises:
            ConversationNotFoundError: nothing is stored under the id.
            ConversationCorruptedError: it is too large to be a conversation.
        """
        ...

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether a live process runs a turn on the conversation. Leaves no trace and raises nothing."""
        ...

    def erase(self, ids: "Collection[ConversationId]") -> None:
        """Remove every trace of what these conversations no longer hold from the index; all of those that are deleted.

        Raises:
            FilesystemError: the index cannot be written.
        """
        ...


def pages(
    finder: Finder,
    wanted: Wanted,
    limit: int | None,
    place: Place | None,
    headway: Headway,
    around: "Neighbourhood | None" = None,
) -> Iterator[Page]:
    """Refresh, and yield pages until they hold `limit` conversations, or all."""
    finder.refresh(headway)
    left = limit
    page = finder.page(wanted, _size(left), place, around)
    if not page.is_complete and not headway.is_stopped:  # the index was lost after the refresh
        finder.refresh(headway)
        page = finder.page(wanted, _size(left), place, around)
    while True:
        yield page
        left = None if left is None else left - len(page.found)
        if page.next is None or left == 0:
            return
        page = finder.page(wanted, _size(left), page.next, around)


def _size(left: int | None) -> int:
    return PAGE if left is None else min(PAGE, left)
