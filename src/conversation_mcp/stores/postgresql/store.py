"""The store that keeps conversations in the tables of a PostgreSQL database."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial
from uuid import uuid4

from anyio import sleep
from anyio.lowlevel import checkpoint_if_cancelled

from conversation_mcp.cancellation import finish, in_thread
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.findings import Finding
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.origins import Origin
from conversation_mcp.stores.base import Change, OnWait, Report, Stamp
from conversation_mcp.stores.ears import Ear
from conversation_mcp.stores.leases import import_lease, turn_of
from conversation_mcp.stores.lines import Lines
from conversation_mcp.stores.news import NewsHub, OwnerNews
from conversation_mcp.stores.postgresql.calls import CallRows
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.contents import ContentRows
from conversation_mcp.stores.postgresql.conversations import StoredRows
from conversation_mcp.stores.postgresql.finder import DatabaseFinder
from conversation_mcp.stores.postgresql.leases import LeaseRows, is_held
from conversation_mcp.stores.postgresql.limits import LimitRows
from conversation_mcp.stores.postgresql.removal import left_rows, remove_rows
from conversation_mcp.stores.postgresql.trash import TrashRows
from conversation_mcp.stores.reserving import first_free
from conversation_mcp.stores.threaded_attachments import ThreadedAttachments
from conversation_mcp.stores.trial import tried
from conversation_mcp.stores.turn_locks import HeldTurn, TurnLocks
from conversation_mcp.text import storable
from conversation_mcp.threads import begun_in_thread

STRAY_AFTER = timedelta(hours=1)
SWEEP_SECONDS = 3600.0
SLOT = "SELECT slot FROM conversations WHERE owner = %s AND id = %s AND deleted_milliseconds IS NULL"
STAMP = """
    SELECT slot, version FROM conversations
    WHERE owner = %s AND id = %s AND deleted_milliseconds IS NULL AND head IS NOT NULL
"""
STAMP_OF_ALL = """
    SELECT count(*), coalesce(sum(slot), 0)::bigint FROM conversations
    WHERE owner = %s AND deleted_milliseconds IS NULL AND head IS NOT NULL
"""
SIZE = """
    SELECT ((SELECT coalesce(sum(size_bytes), 0) FROM conversations WHERE owner = %s)
        + (SELECT coalesce(sum(octet_length(content)), 0) FROM attachments WHERE owner = %s))::bigint
"""
IMPORTS = """
    SELECT imported_from, imported_id, id FROM conversations
    WHERE owner = %s AND deleted_milliseconds IS NULL AND imported_from IS NOT NULL
"""
EXPORT = """
    INSERT INTO exports (owner, slot, ending, content) VALUES (%s, %s, %s, %s)
    ON CONFLICT (owner, slot, ending) DO UPDATE SET content = excluded.content
"""
SWEEP = "DELETE FROM conversations WHERE owner = %s AND head IS NULL AND changed_at < %s"
KEPT_FOR = "SELECT keep FROM owners WHERE owner = %s"
SWEEP_LEASES = "DELETE FROM leases WHERE owner = %s AND expires_at < clock_timestamp() - interval '1 day'"


class DatabaseStore:
    """Conversations of one owner in a database, shared with every process that uses it; satisfies Store."""

    def __init__(self, database: Database, url: str, now: Callable[[], datetime], hub: NewsHub | None = None) -> None:
        self._database = database
        self._url = url
        self._now = now
        self._news = OwnerNews(hub, database.owner)
        self._leases = LeaseRows(database, self._news)
        self._rows = StoredRows(database, self._leases, now)
        self._calls = CallRows(database, self._leases, now, self._news)
        self._trash = TrashRows(database, self._calls, now)
        self._finder = DatabaseFinder(database)
        self._writers = Lines()
        self._turns = TurnLocks(self._leases.take_turn, is_remote=True, hear=self.hear)

    @property
    def calls(self) -> CallRows:
        """The register of calls, in the same database."""
        return self._calls

    @property
    def limits(self) -> LimitRows:
        """The limits, in the same database."""
        return LimitRows(self._database, self._leases)

    @property
    def attachments(self) -> ThreadedAttachments:
        """The attachments, in the same database."""
        return ThreadedAttachments(ContentRows(self._database))

    @property
    def trash(self) -> TrashRows:
        """The trash, in the same database."""
        return self._trash

    @property
    def finder(self) -> DatabaseFinder:
        """The finder of the same database."""
        return self._finder

    def location(self, conversation_id: ConversationId) -> str:
        """Return the address of the conversation, which nothing but this store opens."""
        return self._database.location(check_id(conversation_id))

    async def reserve(self, at: datetime | None = None) -> ConversationId:
        """Take the first free id from that millisecond on."""
        return await first_free(at or self._now(), self.reserve_this)

    async def reserve_this(self, conversation_id: ConversationId) -> bool:
        """Insert an empty row, unless there is one."""
        return await in_thread(self._rows.reserve, check_id(conversation_id))

    async def unreserve(self, conversation_id: ConversationId) -> None:
        """Remove the row if it is empty."""
        await in_thread(self._rows.unreserve, conversation_id)

    async def create(self, conversation: Conversation) -> None:
        """Fill the reserved row."""
        check_id(conversation.conversation_id)
        await in_thread(self._rows.create, conversation)
        self._news.tell(turn_of(conversation.conversation_id))

    async def exists(self, conversation_id: ConversationId) -> bool:
        """Tell whether there is a row that is filled."""
        return await self.stamp(check_id(conversation_id)) is not None

    async def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the rows as they are now, or what is in memory of that version."""
        loaded = await in_thread(self._rows.load, check_id(conversation_id))
        await checkpoint_if_cancelled()
        return loaded

    async def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Write the rows that the change makes different; updates of this process come in the order of the calls."""
        updated = await finish(self._update(check_id(conversation_id), change))
        await checkpoint_if_cancelled()
        return updated

    async def stamp(self, conversation_id: ConversationId | None) -> Stamp:
        """Return row and version; of all, what differs with the rows there are."""
        if conversation_id is None:
            found = await in_thread(self._database.first, STAMP_OF_ALL)
            return found if found and found[0] else None
        return await in_thread(self._database.first, STAMP, conversation_id)

    async def size_bytes(self) -> int:
        """Add up the sizes of conversations and attachments."""
        return await self._database.ask(self._size)

    async def imports(self) -> Mapping[Origin, ConversationId]:
        """Read the origins from their columns."""
        found = await in_thread(self._database.rows, IMPORTS)
        return {(source, name): ConversationId(conversation_id) for source, name, conversation_id in found}

    async def freshen(self, patience_seconds: float, report: Report) -> str | None:
        """Return at once: the finder asks the tables."""
        del patience_seconds, report

    async def run(self) -> None:
        """Sweep now and then."""
        while True:
            await self.sweep()
            await sleep(SWEEP_SECONDS)

    async def sweep(self) -> None:
        """Free the ids that were reserved long ago and never used, and forget old calls and leases."""
        try:
            await self._database.ask(self._sweep)
        except ConversationMCPError:
            return  # whoever asks next is told

    async def acquire_turn(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> HeldTurn:
        """Wait for the lease of the turn; a wait of 0 s is a single try."""
        return await self._turns.acquire(check_id(conversation_id), wait_seconds, on_wait)

    async def remove_all(self) -> None:
        """Delete the rows of the owner in all tables, in one transaction."""
        await finish(self._database.ask(partial(remove_rows, owner=self._database.owner)))

    async def traces(self) -> list[str]:
        """Count the rows of the owner in all tables."""
        return await self._database.ask(partial(left_rows, owner=self._database.owner))

    def import_alone(self, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold the lease of imports."""
        return import_lease(self._leases.take, on_wait)

    async def keep_export(self, conversation_id: ConversationId, ending: str, text: str) -> str:
        """Keep the export in a row, so that it goes with its conversation."""
        content = storable(text).encode()

        def work(connection: Connection) -> None:
            slot = self._slot(connection, check_id(conversation_id))
            connection.execute(EXPORT, (self._database.owner, slot, ending, content))

        await finish(self._database.ask(work))
        return f"{self.location(conversation_id)}/export{ending}"

    async def try_out(self) -> Finding:
        """Try as an owner that nobody else is."""
        owner = f"doctor-{uuid4().hex}"
        scratch = Database(self._url, owner)
        try:
            try:
                return await tried(DatabaseStore(scratch, self._url, self._now))
            finally:
                await finish(scratch.ask(partial(remove_rows, owner=owner)))
        except ConversationMCPError as error:
            return Finding("fail", f"the store does not work: {error.message}")

    async def forgotten_after(self, conversation_id: ConversationId) -> None:
        """Return None: what is kept is kept."""

    async def kept_for(self) -> str | None:
        """Read the row of the owner."""
        found = await in_thread(self._database.first, KEPT_FOR)
        return found[0] if found else None

    def hear(self, conversation_id: ConversationId | None) -> AbstractContextManager[Ear]:
        """Hear of leases that end, and of what is written without one."""
        return self._news.hear(turn_of(check_id(conversation_id)) if conversation_id else None)

    async def turn_is_held(self, conversation_id: ConversationId) -> bool:
        """Tell whether a live process has the lease of its turn."""
        return await in_thread(is_held, self._database, turn_of(check_id(conversation_id)))

    async def _update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        async with self._writers.turn(conversation_id):
            updated = await begun_in_thread(self._rows.update, conversation_id, change)
        if not self._leases.held(turn_of(conversation_id)):  # the end of a turn tells by itself
            self._news.tell(turn_of(conversation_id))
        return updated

    def _size(self, connection: Connection) -> int:
        found = connection.execute(SIZE, (self._database.owner,) * 2).fetchone()
        return found[0] if found else 0

    def _slot(self, connection: Connection, conversation_id: ConversationId) -> int:
        found = connection.execute(SLOT, (self._database.owner, conversation_id)).fetchone()
        if found is None:
            raise ConversationNotFoundError(conversation_id, self._database.place)
        return found[0]

    def _sweep(self, connection: Connection) -> None:
        connection.execute(SWEEP, (self._database.owner, self._now() - STRAY_AFTER))
        connection.execute(SWEEP_LEASES, (self._database.owner,))
        self._calls.sweep(connection)


def build(
    url: str, now: Callable[[], datetime], owner: str, *, is_durable: bool = True, common: NewsHub | None = None
) -> DatabaseStore:
    """Make the store of the owner's part of the database."""
    return DatabaseStore(Database(url, owner, is_durable=is_durable), url, now, common)
