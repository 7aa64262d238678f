"""What a turn does while it holds the lock: ask its question, or bring an earlier one to its end."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from conversation_mcp.conversations.whereabouts import whereabouts_of
from conversation_mcp.errors import (
    CancelledUnsentError,
    ConversationBusyError,
    ConversationMCPError,
    ConversationTooLongError,
    InvalidInputError,
    ProviderMissingError,
    RunAliveError,
    RunCancelledError,
    ServerEndingError,
    TurnLimitReachedError,
)
from conversation_mcp.prompting.room import Room
from conversation_mcp.providers.base import Mode
from conversation_mcp.providers.choosing.choice import Providers
from conversation_mcp.providers.choosing.chosen import Choice
from conversation_mcp.providers.choosing.stay import is_named
from conversation_mcp.providers.whereabouts import NOWHERE
from conversation_mcp.records.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.stores.base import Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.ask import Ask
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.runner import OpenTurn, TurnRunner, finish
from conversation_mcp.turns.running import NO_ASK, RunningTurn
from conversation_mcp.turns.sender import TurnSender
from conversation_mcp.turns.settler import Settler
from conversation_mcp.turns.sharing import sharing_notices
from conversation_mcp.turns.unsaved import UnsavedAnswers

LOOK_SECONDS = 0.5
MAX_LOOK_SECONDS = 5.0


@dataclass(frozen=True)
class TurnLimits:
    """What bounds a turn."""

    lock_wait_seconds: float
    max_question_chars: int
    max_turns: int | None


class TurnWorker:
    """Does the work of one turn at a time on each conversation."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        runner: TurnRunner,
        sender: TurnSender,
        unsaved: UnsavedAnswers,
        settler: Settler,
        room: Room,
        prompts: Mapping[Mode, str],
        limits: TurnLimits,
    ) -> None:
        self._store = store
        self._providers = providers
        self._runner = runner
        self._sender = sender
        self._unsaved = unsaved
        self._settler = settler
        self._room = room
        self._prompts = prompts
        self._limits = limits

    async def ask(self, turn: RunningTurn, conversation_id: ConversationId, choice: Choice) -> TurnResult:
        """Ask the turn's question in the conversation, or open it with the question when it is only reserved.

        Raises:
            ConversationBusyError: another turn kept the lock too long; nothing was sent.
            ConversationTooLongError: the model does not take so much; nothing was sent.
            ConversationMCPError: there is no answer; where the question was sent the file says so.
        """
        turn.queued = turn.conversation_id is not None
        wait_until = anyio.current_time() + self._limits.lock_wait_seconds
        async with self._locked(turn, conversation_id):
            pending = changes.pending_turn(turn.ask, choice, turn.asks_at)
            try:
                conversation = await self._write(turn, conversation_id, pending, choice, wait_until)
            except ConversationTooLongError as error:
                error.conversation_id = turn.conversation_id
                error.larger, error.outside = await self._larger(turn, conversation_id, choice, error.tokens)
                raise
            turn.conversation_id = conversation_id
            turn.send_to(choice.provider.name, choice.side)
            turn.asked(turn.asks_at)
            opened = OpenTurn(turn, conversation, conversation.pending_turn or pending)
            return await self._sender.send(opened, choice)

    async def _larger(
        self, turn: RunningTurn, conversation_id: ConversationId, choice: Choice, tokens: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return which models take more, those first that leave the words where they are, or were to go."""
        known = (
            NOWHERE
            if turn.conversation_id is None
            else whereabouts_of(await self._store.load(conversation_id), self._providers.sides)
        )
        if known == NOWHERE or known.holds(choice.provider.name, choice.side):
            known = known.also_at(choice.provider.name, choice.side)
        near, others = await self._providers.larger(turn.ask.mode, tokens, known)
        return (near, others) if known.is_kept_here else ((*near, *others), ())

    async def _write(
        self,
        turn: RunningTurn,
        conversation_id: ConversationId,
        pending: PendingTurn,
        choice: Choice,
        wait_until: float,
    ) -> Conversation:
        if turn.conversation_id is not None:
            return await self._add(turn, conversation_id, pending, choice, wait_until)
        conversation = changes.new_conversation(
            conversation_id, turn.ask.system or self._prompts[turn.ask.mode], pending
        )
        self._room.require(conversation, pending.question, choice)
        await self._store.create(conversation)
        return conversation

    async def resume(self, turn: RunningTurn, conversation_id: ConversationId) -> None:
        """Find out what became of the pending turn of a dead server; a run in the background is watched to its end.

        Raises:
            ConversationMCPError: somebody else holds the lock, or the provider cannot be asked.
        """
        async with self._locked(turn, conversation_id):
            alive = await self._settler.settle(conversation_id, turn)
            turn.looked.set()
            if alive is not None and turn.background:
                turn.report(alive.look.progress)
                events = alive.provider.follow(turn.response_id or "")
                turn.finish(await self._sender.carry(alive.opened, alive.provider, events))

    async def stop(self, turn: RunningTurn, conversation_id: ConversationId) -> None:
        """Stop the run that a dead server has left at its provider.

        Raises:
            InvalidInputError: nothing is left to stop.
            ProviderError: it was stopped, as was wished.
        """
        async with self._locked(turn, conversation_id):
            try:
                alive = await self._settler.settle(conversation_id, turn)
            except ProviderMissingError as error:
                await self._settler.give_up(conversation_id, error)
                return
            if alive is None:
                raise InvalidInputError(f"no question of {conversation_id} is being answered.")
            await self._runner.stop(alive.opened, alive.provider, RunCancelledError(alive.provider.name))

    @asynccontextmanager
    async def _locked(self, turn: RunningTurn, conversation_id: ConversationId) -> AsyncGenerator[None]:
        lock = None
        with turn.queue:
            wait_seconds = self._limits.lock_wait_seconds if turn.queued else 0
            lock = await self._store.acquire_turn(conversation_id, wait_seconds, turn.report_queue)
        turn.queued = False
        if lock is None:
            raise _gave_up(turn, conversation_id)
        turn.holds_lock = True
        try:
            yield
        finally:
            turn.holds_lock = False
            await finish(lock.release())

    async def _add(
        self,
        turn: RunningTurn,
        conversation_id: ConversationId,
        pending: PendingTurn,
        choice: Choice,
        wait_until: float,
    ) -> Conversation:
        """Put the question into the file; one before it that has no answer is settled first."""
        await self._unsaved.require_saved(conversation_id)
        settled = False

        def add(stored: Conversation, _now: str) -> Conversation:
            limit = self._limits.max_turns
            if limit is not None and stored.turn_count >= limit:
                raise TurnLimitReachedError(conversation_id, limit)
            notices = (*(pending.notices or ()), *self.require_sharing(stored, turn.ask, choice))
            if stored.pending_turn is not None and not settled:
                raise _UnsettledError
            self._room.require(stored, pending.question, choice)
            return changes.asked(stored, pending.model_copy(update={"notices": notices}) if notices else pending)

        try:
            return await self._store.update(conversation_id, add)
        except _UnsettledError:
            await self._settle_before(turn, conversation_id, wait_until)
            settled = True
            return await self._store.update(conversation_id, add)

    def require_sharing(self, conversation: Conversation, ask: Ask, choice: Choice) -> tuple[str, ...]:
        """Return the notices about who gets the conversation; raises WordsStayError when it may not leave."""
        may_leave = is_named(ask.model, choice) or self._providers.shares_always
        return sharing_notices(conversation, choice, self._providers.sides, may_leave=may_leave)

    async def _settle_before(self, turn: RunningTurn, conversation_id: ConversationId, wait_until: float) -> None:
        """Bring the question before this one to its end; it may have been answered without anybody listening.

        A run that still goes on at its provider is waited for, as one that another process has in its hands.
        """
        before = RunningTurn("", NO_ASK, conversation_id, anyio.current_time)
        pause_seconds = LOOK_SECONDS
        turn.open_queue()
        with turn.queue:
            while alive := await self._settler.settle(conversation_id, before):
                if anyio.current_time() >= wait_until:
                    raise RunAliveError(conversation_id, alive.provider.name, alive.look.progress, turn.elapsed_seconds)
                turn.report(
                    f"waiting for the question before this one, which {alive.provider.name} still answers "
                    f"({alive.look.progress}), {turn.elapsed_seconds:.0f} s"
                )
                await anyio.sleep(max(0, min(pause_seconds, wait_until - anyio.current_time())))
                pause_seconds = min(2 * pause_seconds, MAX_LOOK_SECONDS)
            turn.queued = False
            return
        raise _gave_up(turn, conversation_id)


def _gave_up(turn: RunningTurn, conversation_id: ConversationId) -> ConversationMCPError:
    """Return why a question was not asked whose wait was ended."""
    if turn.is_refused:
        return ServerEndingError()
    if turn.is_stopped:
        return CancelledUnsentError()
    return ConversationBusyError(conversation_id, turn.elapsed_seconds)


class _UnsettledError(Exception):
    """The question before this one has no outcome yet."""
