"""The same call again: its caller gave up, the call did not. It is joined or its answer delivered, never paid twice."""

from contextlib import suppress
from dataclasses import replace

import anyio

from conversation_mcp.errors import (
    ConversationBusyError,
    ConversationMCPError,
    ConversationNotFoundError,
    EarlierTurnFailedError,
    FilesystemError,
    RunCancelledError,
    ServerEndedError,
    ServerEndingError,
)
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn
from conversation_mcp.stores.base import Call, CallRegister, Store
from conversation_mcp.text import storable
from conversation_mcp.turns.ask import Ask
from conversation_mcp.turns.finding import FoundTurn, find_turn, stored_answer
from conversation_mcp.turns.result import TurnResult, answer_result
from conversation_mcp.turns.resumer import Resumer
from conversation_mcp.turns.running import RunningTurn
from conversation_mcp.turns.settler import is_fetchable
from conversation_mcp.turns.unsaved import UnsavedAnswers, with_unsaved

POLL_SECONDS = 0.2
MAX_LOOK_SECONDS = 5.0
NOTICE = (
    "this is the answer to the same call made earlier ({when}), whose result was never delivered; "
    "nothing was paid again. The same call once more asks anew"
)


class EarlierCalls:
    """Finds out what became of a call that another request, perhaps of another process, has made."""

    def __init__(self, store: Store, resumer: Resumer, unsaved: UnsavedAnswers) -> None:
        self._store = store
        self._resumer = resumer
        self._unsaved = unsaved

    async def outcome(self, turn: RunningTurn) -> TurnResult | None:
        """Wait for the outcome of the earlier call, if it has one or will have one.

        None means that there is no such call, or that it died without an answer: the question may be asked, and the
        call is in the hands of `turn`.

        Raises:
            EarlierTurnFailedError: the earlier call failed and nobody was told.
            ConversationBusyError, ServerEndingError: nobody waits for it here any more.
            ServerEndedError: it died while it was waited for here, and may have been billed.
            ProviderError: its run may still have an answer, which cannot be had now.
        """
        calls = self._store.calls
        seen: Call | None = None
        joined, pause_seconds = False, POLL_SECONDS
        while True:
            if turn.is_refused:
                raise ServerEndingError
            if turn.is_given_up:
                raise ConversationBusyError(str(turn.conversation_id), turn.elapsed_seconds)
            # Read after the call was seen free: only then is one without an answer known to be dead.
            if turn.held:
                call = await calls.find(turn.key)
            else:
                turn.held, call = await calls.take(turn.key)
            seen = call or seen
            found: FoundTurn | None = None
            if seen is not None:
                turn.conversation_id = seen.conversation_id
                conversation, found = await self._look(seen, turn.ask)
                if conversation and isinstance(found, Message):
                    turn.call = seen
                    return self._delivered(turn, conversation, found, notice="" if joined else NOTICE)
                if turn.held and not await self._may_have_outcome(conversation, found):
                    await self._bury(turn, seen, conversation, found, joined=joined)
                    return None
                if turn.held:  # its run goes on at its provider, which is not asked all the time
                    pause_seconds = min(2 * pause_seconds, MAX_LOOK_SECONDS)
            elif turn.held:
                return None
            joined = joined or turn.held is None
            turn.joined, turn.queued = True, turn.is_follow_up and found is None
            turn.asked(seen.started_at if seen and found else None)
            turn.report("the same question is already being answered")
            await anyio.sleep(pause_seconds)

    async def _may_have_outcome(self, conversation: Conversation | None, found: FoundTurn | None) -> bool:
        """Tell whether the call, which nobody works on, is worth another look; its run is looked up meanwhile."""
        if conversation is None or not isinstance(found, PendingTurn):
            return False
        if found != conversation.pending_turn or not is_fetchable(found):
            return False
        if not await self._store.turn_is_held(ConversationId(conversation.conversation_id)):
            await self._settle(conversation)
        return True

    async def _look(self, call: Call, ask: Ask) -> tuple[Conversation | None, FoundTurn | None]:
        conversation = await self._load(call.conversation_id)
        if conversation is None:
            return None, None
        return conversation, find_turn(conversation, call.started_at, storable(ask.question))

    async def _settle(self, conversation: Conversation) -> None:
        """Have the run of a dead server looked at, once."""
        resumed = await self._resumer.resume(conversation)
        if isinstance(resumed.outcome, ConversationMCPError) and not isinstance(resumed.outcome, ConversationBusyError):
            raise resumed.outcome

    async def _bury(
        self, turn: RunningTurn, call: Call, conversation: Conversation | None, found: FoundTurn | None, *, joined: bool
    ) -> None:
        is_litter = conversation and conversation.turn_count == 0 and found == conversation.pending_turn is not None
        if is_litter and not turn.is_follow_up:
            turn.failed_in = call.conversation_id
            await self._store.calls.claim(turn.key, replace(call, is_told=True))
        else:
            await self._store.calls.forget(turn.key, call)
        if call.is_told:
            return
        if isinstance(found, PendingTurn) and found.status == "failed" and found.error:
            if found.error.code == RunCancelledError.code:  # whoever stopped it knows
                return
            raise EarlierTurnFailedError(found.error.code, found.error.message, call.conversation_id)
        if isinstance(found, PendingTurn) and joined:  # who only waited for it has not asked again since it died
            raise ServerEndedError(call.conversation_id)

    async def _load(self, conversation_id: ConversationId) -> Conversation | None:
        await self._unsaved.retry(conversation_id)
        kept = self._unsaved.get(conversation_id)
        try:
            stored = await self._store.load(conversation_id)
        except ConversationMCPError as error:
            if kept is None and not isinstance(error, ConversationNotFoundError):
                raise
            stored = None
        return with_unsaved(stored, kept) if kept else stored

    def _delivered(self, turn: RunningTurn, conversation: Conversation, reply: Message, notice: str) -> TurnResult:
        conversation_id = ConversationId(conversation.conversation_id)
        kept = self._unsaved.get(conversation_id)
        return answer_result(
            stored_answer(reply),
            conversation_id=conversation_id,
            provider=reply.provider,
            requested_model=reply.requested_model,
            path=self._store.location(conversation_id),
            saved=None if kept else conversation,
            show_thinking=turn.ask.show_thinking,
            extra_notice=kept.notice if kept else notice.format(when=reply.created_at) or None,
        )


async def note_told(calls: CallRegister, key: str, call: Call, *, is_failed_start: bool) -> None:
    """Write down that the outcome of a call was told; a start that failed is remembered as the place to go on."""
    with suppress(FilesystemError):  # what was told must not be hidden
        if is_failed_start and await calls.find(key) == call:
            await calls.claim(key, replace(call, is_told=True))
        else:
            await calls.forget(key, call)
