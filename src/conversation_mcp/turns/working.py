"""What a turn does while it holds the lock: ask its question, or bring an earlier one to its end."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio
from anyio.abc import TaskGroup

from conversation_mcp.errors import (
    ConversationBusyError,
    ConversationTooLongError,
    InvalidInputError,
    ProviderError,
    ProviderMissingError,
    RunAliveError,
    RunCancelledError,
    TurnLimitReachedError,
)
from conversation_mcp.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.prompting.history import messages_to_send
from conversation_mcp.prompting.room import has_room, require_room
from conversation_mcp.providers.base import Event, Mode, Provider, Request
from conversation_mcp.providers.choice import Providers
from conversation_mcp.providers.resolving import Choice
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.runner import OpenTurn, TurnRunner, finish
from conversation_mcp.turns.running import NO_ASK, RunningTurn
from conversation_mcp.turns.settling import Settler
from conversation_mcp.turns.unsaved import UnsavedAnswers

STOP_POLL_SECONDS = 0.5


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
        unsaved: UnsavedAnswers,
        settler: Settler,
        prompts: Mapping[Mode, str],
        limits: TurnLimits,
        tasks: TaskGroup,
    ) -> None:
        self._store = store
        self._providers = providers
        self._runner = runner
        self._unsaved = unsaved
        self._settler = settler
        self._prompts = prompts
        self._limits = limits
        self._tasks = tasks

    async def ask(self, turn: RunningTurn, conversation_id: ConversationId, choice: Choice) -> TurnResult:
        """Ask the turn's question in the conversation, or open it with the question when it is only reserved.

        Raises:
            ConversationBusyError: another turn kept the lock too long; nothing was sent.
            ConversationTooLongError: the model does not take so much; nothing was sent.
            ConversationMCPError: there is no answer; where the question was sent the file says so.
        """
        turn.queued = turn.conversation_id is not None
        async with self._locked(turn, conversation_id):
            pending = changes.pending_turn(turn.ask, choice, turn.asks_at)
            try:
                conversation = await self._write(turn, conversation_id, pending, choice)
            except ConversationTooLongError as error:
                error.conversation_id = turn.conversation_id
                error.larger = await self._providers.larger(turn.ask.mode, error.tokens)
                raise
            turn.conversation_id = conversation_id
            turn.asked(turn.asks_at)
            return await self._put_until_taken(OpenTurn(turn, conversation, pending), choice)

    async def _write(
        self, turn: RunningTurn, conversation_id: ConversationId, pending: PendingTurn, choice: Choice
    ) -> Conversation:
        if turn.conversation_id is not None:
            return await self._add(conversation_id, pending, choice)
        conversation = changes.new_conversation(
            conversation_id, turn.ask.system or self._prompts[turn.ask.mode], pending
        )
        require_room(conversation, pending.question, choice)
        await self._store.create(conversation)
        return conversation

    async def _put(self, opened: OpenTurn, choice: Choice) -> TurnResult:
        turn = opened.turn
        turn.report(f"asking {choice.provider.name}")
        request = Request(
            mode=turn.ask.mode,
            messages=messages_to_send(opened.conversation, opened.pending.question),
            preset=turn.ask.preset,
            model=choice.model,
            options=turn.ask.options,
        )
        return await self._answer(opened, choice.provider, choice.provider.ask(request))

    async def _put_until_taken(self, opened: OpenTurn, choice: Choice) -> TurnResult:
        """Put the question to the chosen model, then to those that may stand in, while nothing can have been billed.

        Raises:
            ProviderError: that of the last one that was asked, which stands in the file.
        """
        others: list[Choice] | None = None
        while True:
            try:
                return await self._put(opened, choice)
            except ProviderError as error:
                turn = opened.turn
                if not error.is_free or turn.response_id is not None:
                    raise
                if others is None:
                    others = await self._providers.fallbacks(turn.ask.mode, choice)
                while others and not has_room(opened.conversation, opened.pending.question, others[0]):
                    others.pop(0)
                if not others or turn.is_stopped:
                    raise
                opened = await self._open_again(opened, choice, others[0], error)
                choice = others.pop(0)

    async def _open_again(self, opened: OpenTurn, choice: Choice, other: Choice, failure: ProviderError) -> OpenTurn:
        first, second = (one.name or one.provider.name for one in (choice, other))
        notice = (
            f"{first} did not take the question, and nothing was billed "
            f"({failure.code}: {failure.message.rstrip('.')}); {second} from the fallback list was asked instead"
        )
        pending = opened.pending.model_copy(
            update={
                "provider": other.provider.name,
                "model": other.name,
                "notices": (*(opened.pending.notices or ()), notice),
            }
        )
        opened.turn.work = anyio.CancelScope()
        opened.turn.report(notice)
        await self._store.update(opened.conversation_id, lambda stored, _: changes.asked_again(stored, pending))
        return replace(opened, pending=pending)

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
                turn.finish(await self._answer(alive.opened, alive.provider, events))

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
            raise ConversationBusyError(conversation_id, turn.elapsed_seconds)
        turn.holds_lock = True
        try:
            yield
        finally:
            turn.holds_lock = False
            await finish(lock.release())

    async def _add(self, conversation_id: ConversationId, pending: PendingTurn, choice: Choice) -> Conversation:
        """Put the question into the file; one before it that has no answer is settled first."""
        await self._unsaved.require_saved(conversation_id)
        settled = False

        def add(stored: Conversation, _now: str) -> Conversation:
            limit = self._limits.max_turns
            if limit is not None and stored.turn_count >= limit:
                raise TurnLimitReachedError(conversation_id, limit)
            if stored.pending_turn is not None and not settled:
                raise _UnsettledError
            require_room(stored, pending.question, choice)
            return changes.asked(stored, pending)

        try:
            return await self._store.update(conversation_id, add)
        except _UnsettledError:
            await self._settle(conversation_id)
            settled = True
            return await self._store.update(conversation_id, add)

    async def _settle(self, conversation_id: ConversationId) -> None:
        """Bring the question before this one to its end; it may have been answered without anybody listening."""
        before = RunningTurn("", NO_ASK, conversation_id, anyio.current_time)
        if alive := await self._settler.settle(conversation_id, before):
            raise RunAliveError(conversation_id, alive.provider.name, alive.look.progress)

    async def _answer(self, opened: OpenTurn, provider: Provider, events: AsyncGenerator[Event]) -> TurnResult:
        turn = opened.turn
        self._tasks.start_soon(
            self._watch_for_stop, turn, Call(opened.conversation_id, opened.pending.started_at or "")
        )
        with turn.work:
            return await self._runner.carry(opened, provider, events)
        return await self._runner.stop(opened, provider, RunCancelledError(provider.name))

    async def _watch_for_stop(self, turn: RunningTurn, call: Call) -> None:
        while not turn.ended:
            await anyio.sleep(STOP_POLL_SECONDS)
            if not turn.ended and await self._store.calls.is_asked_to_stop(call):
                turn.stop()


class _UnsettledError(Exception):
    """The question before this one has no outcome yet."""
