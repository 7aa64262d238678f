"""The library, which finds conversations and returns them in pages."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from anyio import to_thread

from conversation_mcp.conversations.cursors import read_cursor, write_cursor
from conversation_mcp.conversations.phrases import notices_of
from conversation_mcp.conversations.turn_meaning import turns_near
from conversation_mcp.records.found import FoundBy, Listed, State, Wanted
from conversation_mcp.records.record import Record
from conversation_mcp.stores.base import Report, Store, silent

if TYPE_CHECKING:
    from conversation_mcp.embeddings.meaning import Meaning

PATIENCE_SECONDS = 20.0


class ListedConversation(Record):
    """A conversation in a list."""

    conversation_id: str
    """Its id, for follow-ups and for the history."""
    title: str
    """The title that was set, else the first question up to a word."""
    created_at: str
    """When it was started."""
    updated_at: str
    """When its file was last written."""
    message_count: int
    """All its messages, the system message included."""
    last_question: str | None = None
    """The beginning of the last question, answered or not."""
    cost_usd: float | None = None
    """Its cost, as far as providers reported it."""
    state: State | None = None
    """What became of an unanswered last question, or `archived`."""
    snippet: str | None = None
    """The part that matches the query best, with the matching words between `**`."""
    message_number: int | None = None
    """The number of the message with that part; absent if the part is the title or an unanswered question."""
    found_by: FoundBy | None = None
    """What found it, words, meaning or both; absent where words alone are searched for."""

    @classmethod
    def of_facts(cls, facts: Listed) -> "ListedConversation":
        """Return the facts that results show."""
        return cls.of(**{name: getattr(facts, name) for name in cls.model_fields})


class ConversationPage(Record):
    """A page of conversations: newest first, or for a query best first."""

    conversations: tuple[ListedConversation, ...]
    """The page."""
    next_cursor: str | None = None
    """The cursor for the next page; absent on the last one."""
    unreadable_count: int
    """How many conversations were skipped because their files cannot be read."""
    notices: tuple[str, ...] | None = None
    """What is missing or was not done as asked."""


class FoundConversations(NamedTuple):
    """Conversations with all their facts, and where the next ones are."""

    conversations: tuple[Listed, ...]
    next_cursor: str | None
    notices: tuple[str, ...]
    """What is missing or was not done as asked."""
    unreadable_count: int = 0


class Library:
    """Finds conversations. Waits up to `patience_seconds` for the index, then says what may be missing.

    `open_meaning` returns what finds by meaning, too, if anything does; `has_work` is called when there may be vectors
    to make.
    """

    def __init__(
        self,
        store: Store,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        open_meaning: "Callable[[], Meaning | None]" = lambda: None,
        has_work: Callable[[], object] = lambda: None,
    ) -> None:
        self._store = store
        self._open_meaning = open_meaning
        self._has_work = has_work
        self._patience_seconds = patience_seconds

    async def find(self, wanted: Wanted, limit: int, cursor: str | None, report: Report) -> ConversationPage:
        """Return a page, which includes changes made by hand and by other processes.

        Raises:
            InvalidInputError: the text is not a cursor, or belongs to another query.
            FilesystemError: the place cannot be read.
        """
        missing = await self._store.freshen(self._patience_seconds, report)
        found = await self.look_up(wanted, limit, cursor, report, missing=missing)
        return ConversationPage.of(
            conversations=tuple(map(ListedConversation.of_facts, found.conversations)),
            next_cursor=found.next_cursor,
            unreadable_count=found.unreadable_count,
            notices=found.notices or None,
        )

    async def look_up(
        self,
        wanted: Wanted,
        limit: int,
        cursor: str | None,
        report: Report = silent,
        missing: str | None = None,
    ) -> FoundConversations:
        """Return what `find` returns with all facts, at once: what other processes have just written may be missing.

        Waits only if the index was never complete. `missing` is what is known to be missing from it.
        """
        place = read_cursor(cursor, wanted.query) if cursor else None
        around, meant = None, None
        if wanted.query.strip() and (meaning := await to_thread.run_sync(self._open_meaning)):
            around, meant = await to_thread.run_sync(turns_near, meaning, wanted.query)
            self._has_work()
        look_up = partial(self._store.finder.page, wanted, limit, place, around)
        page = await to_thread.run_sync(look_up)
        if not page.is_complete and missing is None:  # the index is new, or was lost
            missing = await self._store.freshen(self._patience_seconds, report)
            page = await to_thread.run_sync(look_up)
        return FoundConversations(
            tuple(page.found),
            write_cursor(page.next, wanted.query) if page.next else None,
            (*filter(None, [missing, meant]), *notices_of(page)),
            page.unreadable_count,
        )

    async def catch_up(self, patience_seconds: float) -> None:
        """Compare the index with what is stored, waiting so long at most; the comparison goes on behind."""
        await self._store.freshen(patience_seconds, silent)

    async def take_in(self) -> None:
        """Take in at once what this program has written, for readers that do not wait for a comparison."""
        await to_thread.run_sync(self._store.finder.take_in_written)
