"""The port of the finder: conversations among many, for lists and for whoever reads what is stored as it is.

Every call blocks: the command line asks it directly, the server in a thread. Nothing here imports the records, whose
validation takes longer than a list.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from conversation_mcp.records.found import Listed, Page, Place, Wanted
from conversation_mcp.records.plain import Data
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.records.findings import Finding
    from conversation_mcp.records.models import ConversationId

PAGE = 500
"""So many are held at a time, however many are asked for."""


@dataclass(frozen=True)
class Standing:
    """How much an index knows: of how many conversations, and when that was last compared with what is stored."""

    conversation_count: int
    compared_at: datetime | None


@dataclass(frozen=True)
class Check:
    """How an index stands against what is stored."""

    damage: str | None = None
    """Why it cannot be looked into."""
    known_count: int = 0
    unseen_count: int = 0
    """How many conversations were added, changed or removed since the last comparison."""
    wrong: tuple[str, ...] = ()
    """The ids of those of which it says something else than what is stored, and which have not changed since."""


class Index(Protocol):
    """What a finder may keep beside the conversations to find them quickly: derived from them, never the truth."""

    @property
    def location(self) -> str:
        """Where a person finds it, whether or not it exists."""
        ...

    def size_bytes(self) -> int | None:
        """Return how large it is, None where there is none; raises OSError when that cannot be told."""
        ...

    def obstacle(self) -> str | None:
        """Return why it cannot be kept, None if it can."""
        ...

    def standing(self) -> Standing:
        """Tell how much is known."""
        ...

    def check(self, headway: Headway) -> Check | None:
        """Hold what is known against what is stored and change nothing; None if there is no index yet.

        Raises:
            FilesystemError: the place cannot be read.
        """
        ...

    def rebuild(self, headway: Headway) -> None:
        """Throw everything away and read all conversations."""
        ...


class Inspector(Protocol):
    """What a store knows of the place itself that a person should look at. Changes nothing."""

    def absence(self) -> str | None:
        """Say that the place does not exist yet; None if it does.

        Raises:
            FilesystemError: that cannot be told.
        """
        ...

    def check_place(self, named: str) -> "Iterable[Finding]":
        """Look at whose the place is and what does not belong there; `named` is the place and where it was named."""
        ...

    def check_leftovers(self) -> "Iterable[Finding]":
        """Look for what crashed writers, other programs and deleted conversations left behind.

        Raises:
            FilesystemError: the place cannot be read.
        """
        ...


class Finder(Protocol):
    """Finds conversations. Every call raises FilesystemError when the place cannot be read."""

    @property
    def place(self) -> str:
        """What a person calls the place where everything is kept: a path, or an address without secrets."""
        ...

    @property
    def folder(self) -> Path | None:
        """The folder that the place is; None where it is none."""
        ...

    @property
    def index(self) -> Index | None:
        """The index; None where the store answers without one."""
        ...

    @property
    def inspector(self) -> Inspector:
        """What is known of the place itself."""
        ...

    def location(self, conversation_id: str) -> str:
        """Return where a person finds the conversation: the absolute path of its file."""
        ...

    def refresh(self, headway: Headway) -> None:
        """See what others have written since, which takes a while where there are many."""
        ...

    def take_in_written(self) -> None:
        """See what this process has written."""
        ...

    def page(self, wanted: Wanted, limit: int, place: Place | None = None) -> Page:
        """Return the next conversations, as they are now: newest first, for a query best first.

        Those that others have added since `refresh` may be missing; `is_complete` is false where nobody has refreshed.
        """
        ...

    def newest(self, limit: int | None = None, begins: str = "", *, archived: bool = False) -> Page:
        """Return the newest whose ids begin so, archived ones or others; nothing need be refreshed for it."""
        ...

    def every_newest(self, limit: int | None, headway: Headway) -> Iterator[Page]:
        """Yield pages of the newest that are not archived, in the way that is quickest for so many."""
        ...

    def largest(self, limit: int | None = None) -> Page:
        """Return those that take the most room, without archived ones."""
        ...

    def ids(self, begins: str = "") -> "list[ConversationId]":
        """Return the ids that begin so, in order, whether or not the conversations can be read."""
        ...

    def facts(self, ids: "Iterable[ConversationId]") -> Iterator[Listed]:
        """Yield what lists show of those that are there and can be read."""
        ...

    def contents(
        self, headway: Headway, problems: list[str], written_since: datetime | None = None
    ) -> "Iterator[tuple[ConversationId, Data]]":
        """Yield each conversation as plain data, archived ones and those in the trash too, in no order.

        What is wrong with those that cannot be read is added to the problems. With `written_since`, what was not
        written at or after that moment may be left out.
        """
        ...

    def read(self, conversation_id: "ConversationId") -> bytes:
        """Return the conversation as conversation.json holds it, byte for byte where the store keeps such files.

        Raises:
            ConversationNotFoundError: nothing is stored under the id.
            ConversationCorruptedError: it is too large to be a conversation.
        """
        ...

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether a live process runs a turn on the conversation; leaves no trace and raises nothing."""
        ...

    def erase(self, ids: "Collection[ConversationId]") -> None:
        """Leave nothing of conversations that are gone in what is kept to find them.

        Raises:
            IndexNotErasedError: it cannot be written.
        """
        ...


def pages(finder: Finder, wanted: Wanted, limit: int | None, place: Place | None, headway: Headway) -> Iterator[Page]:
    """Refresh, and yield pages until there are as many conversations as the limit, or all."""
    finder.refresh(headway)
    left = limit
    page = finder.page(wanted, _size(left), place)
    if not page.is_complete and not headway.is_stopped:  # the index was lost in between
        finder.refresh(headway)
        page = finder.page(wanted, _size(left), place)
    while True:
        yield page
        left = None if left is None else left - len(page.found)
        if page.next is None or left == 0:
            return
        page = finder.page(wanted, _size(left), page.next)


def _size(left: int | None) -> int:
    return PAGE if left is None else min(PAGE, left)
