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
from conversation_mcp.turns.asking import Ask
from conversation_mcp.turns.finding import FoundTurn, find_turn, stored_answer
from conversation_mcp.turns.result import TurnResult, answer_result
from conversation_mcp.turns.resuming import Resumer
from conversation_mcp.turns.running import RunningTurn
from conversation_mcp.turns.settling import is_fetchable

POLL_SECONDS = 0.2
OPENING_SECONDS = 5.0
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
        seen = await self._store.calls.find(turn.key)
        if seen is None:
            return None
        turn.conversation_id = seen.conversation_id
        before = await self._load(seen.conversation_id)
        joined = False
        while True:
            call = await self._store.calls.find(turn.key)
            seen = call or seen
            held = await self._store.turn_is_held(seen.conversation_id)
            # Read after the lock was seen free: only then is a turn without an answer known to be a dead one.
            conversation = await self._load(seen.conversation_id)
            found = _find(conversation, before, seen, turn.ask) if conversation else None
            if conversation and isinstance(found, Message):
                return self._delivered(turn, conversation, found, notice="" if joined else NOTICE)
            if conversation and isinstance(found, PendingTurn) and is_fetchable(found) and not held:
                await self._settle(conversation, found)
            elif call is None or (not held and (found is not None or anyio.current_time() > opening_until)):
                await self._bury(turn, seen, found)
                return None
            joined = joined or held
            turn.report("the same question is already being answered")
            await anyio.sleep(POLL_SECONDS)

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

    def _delivered(self, turn: RunningTurn, conversation: Conversation, reply: Message, notice: str) -> TurnResult:
        return answer_result(
            stored_answer(reply),
            conversation_id=conversation.conversation_id,
            provider=reply.provider,
            path=self._store.location(ConversationId(conversation.conversation_id)),
            saved=conversation,
            show_thinking=turn.ask.show_thinking,
            extra_notice=notice.format(when=reply.created_at) or None,
        )


def _find(conversation: Conversation, before: Conversation | None, call: Call, ask: Ask) -> FoundTurn | None:
    """Find the turn of the call: by when it began, or, if it came and went too fast to be noted, as one that is new."""
    if call.started_at is not None:
        return find_turn(conversation, call.started_at)
    known = len(before.messages) if before else 0
    new = zip(conversation.messages[known:], conversation.messages[known + 1 :], strict=False)
    return next(
        (reply for question, reply in new if (question.content, question.tool) == (ask.question, ask.tool)), None
    )
