"""Conversations that are opened without a question, and the end and reopening of any of them."""

from collections.abc import Callable
from datetime import datetime

from conversation_mcp.cancellation import finish
from conversation_mcp.conversations.labels import title_line, with_facts
from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.ids import check_id, created_at
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.redacting.texts import Notices, TextRedaction
from conversation_mcp.stores.base import Store
from conversation_mcp.text import storable

MAX_SUMMARY_CHARS = 20_000
SUMMARY = Argument("summary")


class Opening:
    """Opens, completes and reopens conversations."""

    def __init__(self, store: Store, now: Callable[[], datetime], redaction: TextRedaction) -> None:
        self._store = store
        self._now = now
        self._redaction = redaction

    async def open(self, title: str | None = None) -> tuple[Conversation, Notices]:
        """Open a conversation without messages, and return notices about its title."""
        line, notices = await self._redaction.counted("the title", lambda clean: title_line(title, clean.text))
        return await finish(self._open(line)), notices

    async def end(self, conversation_id: str, summary: str | None = None) -> tuple[Conversation, Notices]:
        """Complete the conversation, and return notices; it is still found and read, and the next question reopens it.

        Raises:
            InvalidInputError: the summary is too long.
        """
        checked, text = ConversationId(check_id(conversation_id)), storable(summary or "").strip()
        if len(text) > MAX_SUMMARY_CHARS:
            raise InvalidInputError(SUMMARY, f" has {len(text):,} characters; at most {MAX_SUMMARY_CHARS:,} are kept.")
        text, notices = await self._redaction.counted("the summary", lambda clean: clean.text(text))
        told: dict[str, object] = {"closing_summary": text} if text else {}
        ended = iso(self._now())
        completed = await self._store.update(checked, lambda stored, _: stored.changed(ended_at=ended, **told))
        return completed, notices

    async def reopen(self, conversation_id: str) -> Conversation:
        """Take up a completed conversation again; its summary stays."""
        checked = ConversationId(check_id(conversation_id))
        return await self._store.update(checked, lambda stored, _: stored.changed(ended_at=None))

    async def _open(self, title: str | None) -> Conversation:
        own = await self._store.reserve()
        try:
            at = created_at(own)
            bare = Conversation.of(conversation_id=own, created_at=at, updated_at=at, message_count=0, messages=())
            await self._store.create(with_facts(bare, title))
        except BaseException:
            await self._store.unreserve(own)
            raise
        return await self._store.load(own)
