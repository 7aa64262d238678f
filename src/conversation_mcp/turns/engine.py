"""The turn engine: takes a question, runs its turn outside the request, and waits for it as long as the caller does."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

import anyio
from anyio import to_thread

from conversation_mcp.conversations.whereabouts import whereabouts_of
from conversation_mcp.errors import (
    Argument,
    ConversationBusyError,
    ConversationMCPError,
    InvalidInputError,
    ProviderError,
    ServerEndedError,
    ServerEndingError,
    WordsStayError,
)
from conversation_mcp.prompting.room import needed_tokens
from conversation_mcp.providers.base import ModeOf, Reader
from conversation_mcp.providers.choosing.choice import Providers
from conversation_mcp.providers.choosing.chosen import Choice
from conversation_mcp.providers.whereabouts import NOWHERE
from conversation_mcp.records.ids import check_id, created_at
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.records.options import refuse_paths
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.budget import Budget
from conversation_mcp.turns.earlier_calls import EarlierCalls, note_told
from conversation_mcp.turns.kept import kept
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.runner import finish
from conversation_mcp.turns.running import RunningTurn, RunningTurns
from conversation_mcp.turns.worker import TurnLimits, TurnWorker


class Turns:
    """Asks questions. A turn belongs to the task group, not to the request that began it."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        worker: TurnWorker,
        running: RunningTurns,
        earlier: EarlierCalls,
        budget: Budget,
        limits: TurnLimits,
        mode_of: ModeOf,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._providers = providers
        self._worker = worker
        self._running = running
        self._budget = budget
        self._limits = limits
        self._earlier = earlier
        self._mode_of = mode_of
        self._now = now

    async def start(self, ask: Ask, caller: Caller) -> TurnResult:
        """Open a conversation with the question.

        Raises:
            ConversationMCPError: nothing was written, or there is no answer and the file says so.
        """
        return await self._call(replace(ask, system=caller.system), None, caller)

    async def follow_up(self, conversation_id: str, ask: Ask, caller: Caller) -> TurnResult:
        """Ask the next question of a conversation; the provider sees all that was said before.

        Raises:
            ConversationMCPError: as `start`; ConversationBusyError when another turn kept the lock too long.
        """
        return await self._call(ask, check_id(conversation_id), caller)

    async def _call(self, ask: Ask, conversation_id: ConversationId | None, caller: Caller) -> TurnResult:
        self._check_question(ask)
        stored = await self._stored(conversation_id)
        choice = await self._choose(ask, stored)
        if not isinstance(choice.provider, Reader):
            refuse_paths(ask.options)
        key = ask.key(caller.owner, conversation_id)
        while (turn := self._running.get(key)) and turn.is_given_up:
            await turn.wait_end()
        if turn is None:
            turn = RunningTurn(key, ask, conversation_id, anyio.current_time)
            self._running.begin(turn, self._claimed(turn, choice, is_there=stored is not None))
        return await self._wait(turn, caller)

    async def _stored(self, conversation_id: ConversationId | None) -> Conversation | None:
        """Return the conversation, if it can be read; what is wrong with it is said by the turn."""
        if conversation_id is not None:
            with suppress(ConversationMCPError):
                return await self._store.load(conversation_id)
        return None

    async def _choose(self, ask: Ask, stored: Conversation | None) -> Choice:
        """Return who is asked; without a model named, whoever answered last and can do it.

        Raises:
            WordsStayError: the words would leave this machine, and nobody said so.
        """

        async def needed() -> int:
            return await to_thread.run_sync(needed_tokens, stored, ask.question)

        await self._providers.all()
        known = whereabouts_of(stored, self._providers.sides) if stored else NOWHERE
        stays = kept(stored, ask.mode, self._mode_of) if stored else ()
        choice = await self._providers.choose(
            ask.mode, ask.model, level=ask.preset, kept=stays, needed=needed, whereabouts=known
        )
        if stored:
            try:
                self._worker.require_sharing(stored, ask, choice)
            except WordsStayError as error:
                mode, error.models_here = await self._providers.keeping(ask.mode)
                error.is_chat_only = mode != ask.mode
                raise
        await self._providers.require_writer(choice, known)
        return choice

    def _check_question(self, ask: Ask) -> None:
        if not ask.question.strip():
            raise InvalidInputError(Argument(ask.question_name), " must not be empty.")
        if len(ask.question) > (limit := self._limits.max_question_chars):
            raise InvalidInputError(
                Argument(ask.question_name),
                f" has {len(ask.question):,} characters; at most {limit:,} are taken.",
            )

    async def _wait(self, turn: RunningTurn, caller: Caller) -> TurnResult:
        turn.waiters += 1
        if caller.on_text:
            turn.listeners.append(caller.on_text)
        try:
            outcome = await turn.wait(caller.report, caller.wait_seconds, until_asked=caller.on_asked is not None)
        finally:
            turn.waiters -= 1
            if turn.queued and not turn.waiters:
                turn.queue.cancel()
        if outcome is None:
            if turn.is_left and not turn.background:
                raise ServerEndedError(str(turn.conversation_id)) if turn.started_at else ServerEndingError
            if turn.queued:
                raise ConversationBusyError(str(turn.conversation_id), turn.elapsed_seconds)
            if caller.on_asked and turn.place:
                caller.on_asked(turn.place)
            return self._still_running(turn)
        if turn.call and not (turn.background and isinstance(outcome, ProviderError) and not outcome.ends_run):
            is_failed_start = isinstance(outcome, ConversationMCPError) and not turn.is_follow_up
            note = partial(note_told, self._store.calls, turn.key, turn.call, is_failed_start=is_failed_start)
            await finish(caller.on_result(note))
        if isinstance(outcome, ConversationMCPError):
            raise outcome
        return outcome

    def _still_running(self, turn: RunningTurn) -> TurnResult:
        assert turn.conversation_id is not None  # noqa: S101 -- RunningTurn.wait has seen to it
        return TurnResult.of(
            conversation_id=turn.conversation_id,
            status="running",
            progress=turn.doing,
            elapsed_seconds=round(turn.elapsed_seconds),
            conversation_path=self._store.location(turn.conversation_id),
        )

    async def _claimed(self, turn: RunningTurn, choice: Choice, *, is_there: bool) -> TurnResult:
        """Join the same call made by somebody else, or run the turn under the call's name."""
        given, calls = turn.conversation_id, self._store.calls
        if given is not None and not is_there and not await self._store.exists(given):
            await self._store.load(given)  # raises, before anything is left behind
        try:
            if earlier := await self._earlier.outcome(turn):
                return earlier
            given = given or turn.failed_in
            turn.conversation_id, turn.started_at, turn.joined, turn.queued = given, None, False, False
            await self._budget.check()
            own = given or await self._store.reserve()
            turn.asks_at = created_at(own) if given is None else iso(self._now())
            turn.call = Call(own, turn.asks_at)
            try:
                await calls.claim(turn.key, turn.call)
                return await self._budget.with_notice(await self._worker.ask(turn, own, choice))
            finally:
                if turn.started_at is None:  # nothing was sent
                    await finish(calls.forget(turn.key, turn.call))
                if turn.conversation_id is None:
                    await finish(self._store.unreserve(own))
        finally:
            if turn.held:
                await finish(turn.held.release())
