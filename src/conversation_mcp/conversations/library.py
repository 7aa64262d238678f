"""The library, which finds conversations and returns them in pages."""

from functools import partial

from anyio import to_thread

from conversation_mcp.conversations.cursors import read_cursor, write_cursor
from conversation_mcp.conversations.phrases import notices_of
from conversation_mcp.records.found import Listed, State, Wanted
from conversation_mcp.records.record import Record
from conversation_mcp.stores.base import Report, Store

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


class Library:
    """Finds conversations. Waits up to `patience_seconds` for the index, then says what may be missing."""

    def __init__(self, store: Store, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._store = store
        self._patience_seconds = patience_seconds

    async def find(self, wanted: Wanted, limit: int, cursor: str | None, report: Report) -> ConversationPage:
        """Return a page, which includes changes made by hand and by other processes.

        Raises:
            InvalidInputError: the text is not a cursor, or belongs to another query.
            FilesystemError: the place cannot be read.
        """
        place = read_cursor(cursor, wanted.query) if cursor else None
        look_up = partial(self._store.finder.page, wanted, limit, place)
        missing = await self._store.freshen(self._patience_seconds, report)
        page = await to_thread.run_sync(look_up)
        if not page.is_complete and missing is None:  # the index was lost after `freshen`
            missing = await self._store.freshen(self._patience_seconds, report)
            page = await to_thread.run_sync(look_up)
        return ConversationPage.of(
            conversations=tuple(map(ListedConversation.of_facts, page.found)),
            next_cursor=write_cursor(page.next, wanted.query) if page.next else None,
            unreadable_count=page.unreadable_count,
            notices=(*([missing] if missing else []), *notices_of(page)) or None,
        )

    async def take_in(self) -> None:
        """Take in at once what this program has written, for readers that do not wait for a comparison."""
        await to_thread.run_sync(self._store.finder.take_in_written)
