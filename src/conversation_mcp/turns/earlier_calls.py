"""Repetitions of a call whose caller gave up while the call went on: its answer is delivered, never paid for twice."""

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from conversation_mcp.errors import (
    ConversationBusyError,
    ConversationMCPError,
    ConversationNotFoundError,
    EarlierTurnFailedError,
    FilesystemError,
    RunCancelledError,
    ServerEndedError,
)
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn
from conversation_mcp.stores.base import Call, CallRegister, Store
from conversation_mcp.text import storable
from conversation_mcp.turns.ask import Ask
from conversation_mcp.turns.call_outcomes import CallOutcome, Dead, Delivered, Free, Running
from conversation_mcp.turns.consensus_result import consensus_result
from conversation_mcp.turns.result import TurnResult, answer_result
from conversation_mcp.turns.resumer import Resumer
from conversation_mcp.turns.settler import is_fetchable
from conversation_mcp.turns.stored_turns import FoundTurn, find_turn, stored_answer
from conversation_mcp.turns.unsaved import UnsavedAnswers, with_unsaved

NOTICE = (
    "this is the answer to the same call made earlier ({when}), whose result was never delivered; "
    "nothing was paid again. To ask again, repeat the call once more"
)


class EarlierCalls:
    """Finds the outcome of a call that another request made, possibly in another process."""

    def __init__(self, store: Store, resumer: Resumer, unsaved: UnsavedAnswers) -> None:
        self._store = store
        self._resumer = resumer
        self._unsaved = unsaved

    async def outcome(self, ask: Ask, call: Call | None, *, is_ours: bool, was_joined: bool) -> CallOutcome:
        """Look once for the outcome of the earlier call with the same question.

        Args:
            ask: the question that is asked again.
            call: where the register says the question is; None if it has no entry.
            is_ours: whether this process holds the name. It must have taken the name before it read `call`: only then
                is a call without an answer known to be dead.
            was_joined: whether this turn waited while another process worked on the call.

        Raises:
            ConversationMCPError: the conversation cannot be read.
            ProviderError: the run may still have an answer, which cannot be fetched now.
        """
        if call is None:
            return Free() if is_ours else Running()
        conversation = await self._load(call.conversation_id)
        # The file holds the question in its storable form.
        found = find_turn(conversation, call.started_at, storable(ask.question)) if conversation else None
        if conversation and isinstance(found, Message):
            return Delivered(call, self._result(conversation, found, ask, notice="" if was_joined else NOTICE))
        if is_ours and not await self._may_have_outcome(conversation, found):
            is_failed_start = bool(conversation and conversation.turn_count == 0) and _is_pending(found, conversation)
            error = _untold_error(call, found, was_joined=was_joined)
            goes_on = isinstance(found, PendingTurn) and bool(found.calls)
            return Dead(call, is_failed_start, error, goes_on=goes_on)
        return Running(call, is_asked=found is not None)

    async def _may_have_outcome(self, conversation: Conversation | None, found: FoundTurn | None) -> bool:
        """Tell whether an abandoned call is worth another look; its run is looked up first, unless another does so."""
        if conversation is None or not isinstance(found, PendingTurn):
            return False
        if not _is_pending(found, conversation) or not is_fetchable(found):
            return False
        if not await self._store.turn_is_held(ConversationId(conversation.conversation_id)):
            await self._settle(conversation)
        return True

    async def _settle(self, conversation: Conversation) -> None:
        """Have the run of a dead server looked up once."""
        resumed = await self._resumer.resume(conversation)
        if isinstance(resumed.outcome, ConversationMCPError) and not isinstance(resumed.outcome, ConversationBusyError):
            raise resumed.outcome

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

    def _result(self, conversation: Conversation, reply: Message, ask: Ask, notice: str) -> TurnResult:
        conversation_id = ConversationId(conversation.conversation_id)
        kept = self._unsaved.get(conversation_id)
        if ask.seats:
            told = kept.notice if kept else notice.format(when=reply.created_at) or None
            path = self._store.location(conversation_id)
            return consensus_result(conversation, reply, path, told, is_saved=kept is None)
        return answer_result(
            stored_answer(reply),
            conversation_id=conversation_id,
            provider=reply.provider,
            requested_model=reply.requested_model,
            path=self._store.location(conversation_id),
            saved=None if kept else conversation,
            asked=question_of(reply, conversation),
            show_thinking=ask.show_thinking,
            extra_notice=kept.notice if kept else notice.format(when=reply.created_at) or None,
        )


def question_of(reply: Message, conversation: Conversation) -> Message | None:
    """Return the message before this answer."""
    return next((before for before, one in pairwise(conversation.messages) if one is reply), None)


def _is_pending(found: FoundTurn | None, conversation: Conversation | None) -> bool:
    return conversation is not None and found is not None and found == conversation.pending_turn


def _untold_error(call: Call, found: FoundTurn | None, *, was_joined: bool) -> ConversationMCPError | None:
    """Return the error of a dead call that its caller has not seen yet."""
    if call.is_told or not isinstance(found, PendingTurn):
        return None
    if found.status == "failed" and found.error:
        if found.error.code == RunCancelledError.code:  # the person who stopped it knows
            return None
        return EarlierTurnFailedError(found.error.code, found.error.message, call.conversation_id)
    # A caller that joined the call has not asked again since its server died, so it must decide on paying once more.
    return ServerEndedError(call.conversation_id) if was_joined else None


async def note_told(calls: CallRegister, key: str, call: Call, *, stays: bool) -> None:
    """Record that the outcome of a call was delivered; it stays on record if the same call takes up what it left."""
    with suppress(FilesystemError):  # a register that cannot be written must not hide the outcome
        if stays and await calls.find(key) == call:
            await calls.claim(key, replace(call, is_told=True))
        else:
            await calls.forget(key, call)
