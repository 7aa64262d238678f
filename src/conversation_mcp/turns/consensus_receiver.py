"""The way of one model's verdict to its place in the pending turn."""

import logging

import anyio

from conversation_mcp.conversations.expiry import Expiries
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.base import Answer
from conversation_mcp.records.models import Conversation, Message, PendingCall
from conversation_mcp.stores.base import Change, Store
from conversation_mcp.turns import changes, consensus_changes
from conversation_mcp.turns.receiver import AnswerReceiver, OpenQuestion
from conversation_mcp.turns.redaction import Redaction
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.unsaved import UnsavedAnswers

logger = logging.getLogger(__name__)


class VerdictReceiver(AnswerReceiver):
    """Receives the answer to one call; it is kept here, too, in case it cannot be saved."""

    def __init__(
        self, store: Store, unsaved: UnsavedAnswers, place: int, call: PendingCall, redaction: Redaction
    ) -> None:
        """Make the receiver of the call at that place."""
        super().__init__(store, unsaved, Expiries(store, None), redaction=redaction)
        self._calls_store = store
        self._place = place
        self.call = call
        self.error: ConversationMCPError | None = None

    async def write(self, opened: OpenQuestion, change: Change) -> Conversation:
        """Apply a change to the call as if it were the only question of the conversation."""
        place = self._place

        def fold(stored: Conversation, now: str) -> Conversation:
            return consensus_changes.folded(stored, place, change(consensus_changes.seen(stored, place), now))

        saved = await self._calls_store.update(opened.conversation_id, fold)
        self._remember(saved)
        return saved

    async def save(self, opened: OpenQuestion, answer: Answer) -> TurnResult:
        """Keep the verdict in the pending turn."""
        answer = await self.redacted(answer)
        notices = (*(opened.pending.notices or ()), *answer.notices)

        def keep(stored: Conversation, now: str) -> Conversation:
            self._take(changes.reply_message(opened.asked, answer, notices, now))
            reply = self.call.answer
            return consensus_changes.completed(stored, opened.pending, self._place, reply) if reply else stored

        with anyio.CancelScope(shield=True):  # the answer is paid for, so that a cancellation has to wait
            try:
                await self._calls_store.update(opened.conversation_id, keep)
            except ConversationMCPError as error:
                logger.warning("a verdict could not be saved: %s", error.message)
                if self.call.answer is None:
                    self._take(changes.reply_message(opened.asked, answer, notices, opened.pending.started_at or ""))
        return TurnResult.of(conversation_id=opened.conversation_id, status="completed")

    def fail(self, error: ConversationMCPError) -> None:
        """Note in memory why there is no verdict; the file has it already, or could not take it."""
        self.error = error
        if self.call.error is None:
            self.call = consensus_changes.failed_call(self.call, error)

    def _take(self, reply: Message) -> None:
        self.call = consensus_changes.answered_call(self.call, reply.model_copy(update={"stance": self.call.stance}))

    def _remember(self, saved: Conversation) -> None:
        calls = (saved.pending_turn and saved.pending_turn.calls) or ()
        if self._place < len(calls) and self.call.answer is None:
            self.call = calls[self._place]
