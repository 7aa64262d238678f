"""Answers that could not be written: kept in memory, shown, and written when that works again."""

import logging
from dataclasses import dataclass

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.providers.base import Answer
from conversation_mcp.stores.base import Store
from conversation_mcp.turns import changes

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class UnsavedAnswer:
    """An answer with the conversation as it was when it was asked for."""

    before: Conversation
    pending: PendingTurn
    answer: Answer
    problem: str


class UnsavedAnswers:
    """Those of this process, by conversation."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[ConversationId, UnsavedAnswer] = {}

    def keep(self, conversation_id: ConversationId, unsaved: UnsavedAnswer) -> None:
        """Keep the answer; the turn lock lets only one be missing in a conversation."""
        self._kept[conversation_id] = unsaved

    def get(self, conversation_id: ConversationId) -> UnsavedAnswer | None:
        """Return the answer that is not in the conversation's file yet."""
        return self._kept.get(conversation_id)

    async def retry(self, conversation_id: ConversationId) -> None:
        """Try again to write the answer that is missing, if one is; a failure is only logged."""
        if (kept := self._kept.get(conversation_id)) is None:
            return
        try:
            await self._store.update(
                conversation_id, lambda stored, now: changes.answered(stored, kept.pending, kept.answer, now)
            )
        except ConversationMCPError as error:
            logger.warning("an answer can still not be saved: %s", error.message)
        else:
            self._kept.pop(conversation_id, None)

    async def retry_all(self) -> None:
        """Try again to write every answer that is missing."""
        for conversation_id in tuple(self._kept):
            await self.retry(conversation_id)


def with_unsaved(stored: Conversation | None, unsaved: UnsavedAnswer) -> Conversation:
    """Return the conversation as it would be if the answer had been written."""
    base = stored or unsaved.before
    return changes.answered(base, unsaved.pending, unsaved.answer, base.updated_at)
