"""Answers that could not be saved: kept in memory, shown, and saved when that works again."""

import logging
from typing import NamedTuple

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn
from conversation_mcp.stores.base import Change, Store
from conversation_mcp.turns.stored_turns import find_turn

logger = logging.getLogger(__name__)


class UnsavedAnswer(NamedTuple):
    """An answer, or all verdicts on a question, with the conversation as it was when that was asked."""

    before: Conversation
    pending: PendingTurn
    add: Change
    """Adds what was answered to the conversation."""
    problem: str

    @property
    def notice(self) -> str:
        """The loud notice of a result that is in no file."""
        return (
            f"THIS ANSWER IS NOT SAVED: {self.problem} It is kept in memory while this server runs, and saved when "
            "that works again; copy it if it matters"
        )

    def added_to(self, stored: Conversation, now: str) -> Conversation:
        """Return the conversation with the answer, unless the file has it already from another process."""
        if isinstance(find_turn(stored, self.pending.started_at or "", self.pending.question), Message):
            return stored
        return self.add(stored, now)


class UnsavedAnswers:
    """The unsaved answers of this process, by conversation."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[ConversationId, UnsavedAnswer] = {}

    def __len__(self) -> int:
        """Return how many answers are in no file."""
        return len(self._kept)

    def keep(self, conversation_id: ConversationId, unsaved: UnsavedAnswer) -> None:
        """Keep the answer; because of the turn lock, a conversation has at most one."""
        self._kept[conversation_id] = unsaved

    def get(self, conversation_id: ConversationId) -> UnsavedAnswer | None:
        """Return the conversation's unsaved answer, if it has one."""
        return self._kept.get(conversation_id)

    async def retry(self, conversation_id: ConversationId) -> None:
        """Try again to save the conversation's unsaved answer, if it has one; a failure is only logged."""
        try:
            await self.require_saved(conversation_id)
        except ConversationMCPError as error:
            logger.warning("an answer can still not be saved: %s", error.message)

    async def require_saved(self, conversation_id: ConversationId) -> None:
        """Save the conversation's unsaved answer, if any; raises as `Store.update`, so that nothing overtakes it."""
        if kept := self._kept.get(conversation_id):
            await self._store.update(conversation_id, kept.added_to)
            if self._kept.get(conversation_id) is kept:  # another task may have saved it and kept the next one
                del self._kept[conversation_id]

    async def retry_all(self) -> None:
        """Try again to save every unsaved answer."""
        for conversation_id in tuple(self._kept):
            await self.retry(conversation_id)


def with_unsaved(stored: Conversation | None, unsaved: UnsavedAnswer) -> Conversation:
    """Return the conversation as it would be with the answer saved."""
    base = stored or unsaved.before
    return unsaved.added_to(base, base.updated_at)
