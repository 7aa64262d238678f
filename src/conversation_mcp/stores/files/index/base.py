"""The port of the index: finds conversations among many. Derived from what is stored, never the truth.

It knows no records, and every call blocks: the command line asks it directly, the server in a thread.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from conversation_mcp.records.found import Page, Place, Wanted

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId


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
