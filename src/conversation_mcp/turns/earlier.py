"""The same call again: its caller gave up, the call did not. It is joined or its answer delivered, never paid twice."""

import anyio

from conversation_mcp.errors import (
    ConversationMCPError,
    ConversationNotFoundError,
    EarlierTurnFailedError,
    RunAliveError,
)
from conversation_mcp.models import Conversation, ConversationId, Message, PendingTurn
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns.finding import FoundTurn, find_turn, stored_answer
from conversation_mcp.turns.result import TurnResult, answer_result
from conversation_mcp.turns.resuming import Resumer
from conversation_mcp.turns.running import RunningTurn
from conversation_mcp.turns.settling import is_fetchable

POLL_SECONDS = 0.2
OPENING_SECONDS = 2.0
NOTICE = (
    "this is the answer to the same call made earlier ({when}), whose result was never delivered; "
    "nothing was paid again. The same call once more asks anew"
)


class EarlierCalls:
    """Finds out what became of a call that another request, perhaps of another process, has made."""

    def __init__(self, store: Store, resumer: Resumer) -> None:
        self._store = store
        self._resumer = resumer

    async def outcome(self, turn: RunningTurn) -> TurnResult | None:
        """Wait for the outcome of the earlier call, if it has one or will have one.

        None means that there is no such call, or that it died without an answer: the question may be asked.

        Raises:
            EarlierTurnFailedError: the earlier call failed and nobody was told.
            ProviderError, RunAliveError: its run may still have an answer, which cannot be had now.
        """
        opening_until = anyio.current_time() + OPENING_SECONDS
        while (call := await self._store.calls.find(turn.key)) is not None:
            turn.conversation_id = call.conversation_id
            held = await self._store.turn_is_held(call.conversation_id)
            conversation = await self._load(call.conversation_id)
            found = find_turn(conversation, call.started_at) if conversation and call.started_at else None
            if conversation and isinstance(found, Message):
                return self._delivered(turn, conversation, found)
            if not held:
                if conversation and isinstance(found, PendingTurn) and is_fetchable(found):
                    await self._settle(conversation, found)
                elif found is not None or anyio.current_time() > opening_until:
                    await self._bury(turn, call, found)
                    return None
            turn.report("the same question is already being answered")
            await anyio.sleep(POLL_SECONDS)
        return None

    async def _settle(self, conversation: Conversation, pending: PendingTurn) -> None:
        """Have the run of a dead server looked at; return when there is something new to read."""
        resumed = await self._resumer.resume(conversation)
        if not resumed.ended:
            return
        if isinstance(resumed.outcome, ConversationMCPError):
            raise resumed.outcome
        stored = await self._load(ConversationId(conversation.conversation_id))
        if stored and stored.pending_turn == pending:
            raise RunAliveError(conversation.conversation_id, str(pending.provider), "it still goes on there")

    async def _bury(self, turn: RunningTurn, call: Call, found: FoundTurn | None) -> None:
        await self._store.calls.forget(turn.key)
        if isinstance(found, PendingTurn) and found.status == "failed" and found.error:
            raise EarlierTurnFailedError(found.error.code, found.error.message, call.conversation_id)

    async def _load(self, conversation_id: ConversationId) -> Conversation | None:
        try:
            return await self._store.load(conversation_id)
        except ConversationNotFoundError:
            return None

    def _delivered(self, turn: RunningTurn, conversation: Conversation, reply: Message) -> TurnResult:
        return answer_result(
            stored_answer(reply),
            conversation_id=conversation.conversation_id,
            provider=reply.provider,
            path=self._store.location(ConversationId(conversation.conversation_id)),
            saved=conversation,
            show_thinking=turn.ask.show_thinking,
            extra_notice=NOTICE.format(when=reply.created_at),
        )
