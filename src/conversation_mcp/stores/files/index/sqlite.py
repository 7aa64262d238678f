"""The index as an SQLite full-text database in the user's cache folder, shared by all processes."""

from collections.abc import Callable, Collection
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from conversation_mcp.records.found import Describe, Page, Place, Wanted
from conversation_mcp.stores.files.index.base import Check, Standing, Watch

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.stores.files.index.working import WorkingIndex


class SqliteIndex:
    """The index of one folder; satisfies Index. Nothing is loaded or opened before something is asked."""

    def __init__(self, folder: Path, indexes: Path, describe: Describe, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._indexes = indexes
        self._describe = describe
        self._now = now
        self._noted: set[ConversationId] = set()
        self._working: WorkingIndex | None = None
        self._lock = Lock()

    @property
    def location(self) -> str:
        """The folder of this index."""
        return self._loaded().location

    def obstacle(self) -> str | None:
        """Return why the index cannot be kept in its file, None if it can."""
        return self._loaded().obstacle()

    def note(self, conversation_id: "ConversationId") -> None:
        """Remember an id for `take_in_noted`, in this process."""
        self._noted.add(conversation_id)

    def take_in_noted(self) -> None:
        """Read the conversations that were noted."""
        noted: list[ConversationId] = []
        while self._noted:
            noted.append(self._noted.pop())
        if noted:
            self._loaded().take_in(noted)

    def standing(self) -> Standing:
        """Tell how much is known."""
        return self._loaded().standing()

    def compare(self, watch: Watch) -> None:
        """Bring the index up to the folder; a comparison that was cut short goes on where it was."""
        self._noted.clear()
        self._loaded().compare(watch)

    def page(self, wanted: Wanted, limit: int, place: Place | None = None) -> Page:
        """Return the next conversations."""
        return self._loaded().page(wanted, limit, place)

    def check(self, watch: Watch) -> Check | None:
        """Hold what is known against the files and change nothing; None if there is no index yet."""
        return self._loaded().check(watch)

    def rebuild(self, watch: Watch) -> None:
        """Read everything into a new file and put that in the place of the old one, which serves until then."""
        self._loaded().rebuild(watch)

    def erase(self, ids: "Collection[ConversationId]") -> None:
        """Write the file anew without what search and free pages hold of deleted rows, or throw it away."""
        self._loaded().erase(ids)

    def purge_orphans(self) -> None:
        """Remove the indexes of folders that are gone."""
        self._loaded().purge_orphans()

    def _loaded(self) -> "WorkingIndex":
        from conversation_mcp.stores.files.index.working import WorkingIndex

        with self._lock:
            if self._working is None:
                self._working = WorkingIndex(self._folder, self._indexes, self._describe, self._now)
            return self._working
