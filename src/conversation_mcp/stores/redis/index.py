"""The index in the memory of this process: the tables of `stores/index`, filled from the server."""

from collections.abc import Callable, Collection
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import finalize

from conversation_mcp.records.found import Listed, MemoryPage, Page, Place, Wanted, WantedMemories
from conversation_mcp.searching.database import connect
from conversation_mcp.stores.headway import Headway
from conversation_mcp.stores.index.conversations import StampedConversations
from conversation_mcp.stores.index.memory_pages import look_up_memories
from conversation_mcp.stores.index.pages import known, look_up
from conversation_mcp.stores.index.refresh import compare, take_in
from conversation_mcp.stores.index.schema import SCHEMA

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")


class MemoryIndex:
    """The index of one owner's conversations, made at its first use. Every call blocks, and one waits for another."""

    def __init__(self, conversations: StampedConversations, now: Callable[[], datetime]) -> None:
        self._conversations = conversations
        self._now = now
        self._database: sqlite3.Connection | None = None
        self._using = Lock()

    def compare(self, headway: Headway) -> None:
        """Bring the index up to date."""
        self._use(lambda database: compare(database, self._conversations, headway, self._now()))

    def take_in(self, ids: Collection[str]) -> None:
        """Read these conversations again."""
        self._use(lambda database: take_in(database, self._conversations, ids))

    def page(self, wanted: Wanted, limit: int, place: Place | None = None) -> Page:
        """Return the next conversations."""
        return self._use(lambda database: look_up(database, self._conversations, wanted, limit, place))

    def known(self, conversation_id: str) -> Listed | None:
        """Return the facts of a conversation that has not changed since it was read; else None."""
        return self._use(lambda database: known(database, self._conversations, conversation_id))

    def memories(self, wanted: WantedMemories, limit: int, skip: int = 0) -> MemoryPage:
        """Return the next memories."""
        return self._use(lambda database: look_up_memories(database, self._conversations, wanted, limit, skip))

    def _use(self, work: "Callable[[sqlite3.Connection], T]") -> T:
        with self._using:
            if self._database is None:
                database = connect(":memory:")
                finalize(self, database.close)
                SCHEMA.fill(database)
                self._database = database
            return work(self._database)
