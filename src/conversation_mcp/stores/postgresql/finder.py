"""The finder: it asks the tables at each call, so nothing is ever out of date."""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, TypeVar, cast

from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.found import Listed, MemoryPage, Page, Place, Wanted, WantedMemories
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.parts import joined
from conversation_mcp.records.plain import Data, read_data
from conversation_mcp.stores.finder import TextVectors, pages
from conversation_mcp.stores.headway import Headway
from conversation_mcp.stores.leases import turn_of
from conversation_mcp.stores.postgresql.connections import Database
from conversation_mcp.stores.postgresql.contents import ContentRows
from conversation_mcp.stores.postgresql.inspector import DatabaseInspector
from conversation_mcp.stores.postgresql.leases import is_held
from conversation_mcp.stores.postgresql.meant_texts import StoredMemoryTexts, StoredTexts, StoredTurns
from conversation_mcp.stores.postgresql.memories import look_up_memories
from conversation_mcp.stores.postgresql.pages import Pages
from conversation_mcp.stores.postgresql.schema import missing_vectors
from conversation_mcp.stores.postgresql.vectors import VectorTables

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.searching.vectors.near import Neighbourhood

T = TypeVar("T")

READ_AT_ONCE = 20
PARTS = """
    SELECT id, head::text, ARRAY(
        SELECT body::text FROM messages m WHERE m.owner = c.owner AND m.slot = c.slot ORDER BY number
    ) FROM conversations c WHERE owner = %s AND head IS NOT NULL AND
"""
IDS = """
    SELECT id FROM conversations WHERE owner = %s AND deleted_milliseconds IS NULL AND head IS NOT NULL
        AND starts_with(id, %s) ORDER BY id
"""
SLOTS = """
    SELECT slot FROM conversations WHERE owner = %s AND head IS NOT NULL
        AND changed_at >= coalesce(%s::timestamptz, '-infinity')
"""


class DatabaseFinder:
    """Finds conversations in the database; satisfies Finder."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages = Pages(database)
        self._has_vectors = False

    @property
    def place(self) -> str:
        """The address of the database, without user and password."""
        return self._database.place

    @property
    def folder(self) -> None:
        """None: it is no folder."""

    @property
    def index(self) -> None:
        """None: its index is part of its tables."""

    @property
    def turns(self) -> TextVectors | None:
        """The vectors of turns; None in a database that cannot keep vectors."""
        return self._meant(StoredTurns(self._database))

    @property
    def remembered(self) -> TextVectors | None:
        """The vectors of memories; None as for turns."""
        return self._meant(StoredMemoryTexts(self._database))

    @property
    def attachments(self) -> ContentRows:
        """The contents, in rows."""
        return ContentRows(self._database)

    @property
    def inspector(self) -> DatabaseInspector:
        """The inspector of the database."""
        return DatabaseInspector(self._database)

    def location(self, conversation_id: str) -> str:
        """Return the address of the conversation."""
        return self._database.location(check_id(conversation_id))

    def refresh(self, headway: Headway) -> None:
        """Do nothing: nothing is out of date."""

    def take_in_written(self) -> None:
        """Do nothing, for the same reason."""

    def page(
        self, wanted: Wanted, limit: int, place: Place | None = None, around: "Neighbourhood | None" = None
    ) -> Page:
        """Return the next conversations after a place."""
        return self._pages.look_up(wanted, limit, place, around)

    def memories(self, wanted: WantedMemories, limit: int, skip: int = 0) -> MemoryPage:
        """Return the next memories."""
        return look_up_memories(self._database, wanted, limit, skip)

    def newest(self, limit: int | None = None, begins: str = "", *, archived: bool = False) -> Page:
        """Return the newest."""
        wanted = Wanted(state="archived" if archived else None)
        return self._pages.newest_first(wanted, limit, None, begins)

    def every_newest(self, limit: int | None, headway: Headway) -> Iterator[Page]:
        """Yield pages of the newest."""
        return pages(self, Wanted(), limit, None, headway)

    def largest(self, limit: int | None = None) -> Page:
        """Return those with the most bytes."""
        return self._pages.largest_first(limit)

    def ids(self, begins: str = "") -> "list[ConversationId]":
        """Return the ids that begin so."""
        return [cast("ConversationId", name) for (name,) in self._database.rows(IDS, begins)]

    def facts(self, ids: "Iterable[ConversationId]") -> Iterator[Listed]:
        """Yield what is known of these."""
        waiting = iter(ids)
        while batch := [str(each) for each in islice(waiting, READ_AT_ONCE)]:
            yield from self._pages.of_ids(batch)

    def known(self, conversation_id: "ConversationId") -> Listed | None:
        """Return the facts in its row, which are always up to date."""
        return next(iter(self._pages.of_ids([conversation_id])), None)

    def contents(
        self, headway: Headway, problems: list[str], written_since: datetime | None = None
    ) -> "Iterator[tuple[ConversationId, Data]]":
        """Read what is stored and what is in the trash, some at a time."""
        slots = [slot for (slot,) in self._database.rows(SLOTS, written_since)]
        headway.total = len(slots)
        for start in range(0, len(slots), READ_AT_ONCE):
            batch = slots[start : start + READ_AT_ONCE]
            for name, head, messages in self._database.rows(f"{PARTS} slot = ANY(%s)", batch):
                try:
                    yield name, read_data(joined(head, messages), self._database.location(name), name)
                except ConversationMCPError as error:
                    problems.append(error.message)
                headway.seen += 1

    def read(self, conversation_id: "ConversationId") -> bytes:
        """Return the bytes that a file would have."""
        sql = f"{PARTS} id = %s AND deleted_milliseconds IS NULL"
        found = self._database.first(sql, check_id(conversation_id))
        if found is None:
            raise ConversationNotFoundError(conversation_id, self._database.place)
        return joined(found[1], found[2])

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether a live process has the lease of its turn."""
        name = turn_of(conversation_id)
        try:
            return is_held(self._database, name)
        except ConversationMCPError:
            return False

    def erase(self, ids: "Collection[ConversationId]") -> None:
        """Delete the vectors of turns that are gone; the words of a conversation and its memories go with them."""
        if turns := self.turns:
            turns.vectors.forget(ids, turns.source)

    def _meant(self, texts: StoredTexts) -> TextVectors | None:
        if not self._has_vectors:
            self._has_vectors = self._database.run(missing_vectors) is None
        return TextVectors(VectorTables(self._database, texts), texts) if self._has_vectors else None


def build(url: str, now: Callable[[], datetime], owner: str) -> DatabaseFinder:
    """Make the finder of the owner's part of the database."""
    del now
    return DatabaseFinder(Database(url, owner))
