"""Views of conversations, during a turn and after it; and the stopping of turns."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

import anyio

from conversation_mcp.errors import (
    ConversationBusyError,
    ConversationMCPError,
    InvalidInputError,
    ProviderError,
    RunCancelledError,
)
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId, parse_time
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.audience import HEARTBEAT_SECONDS
from conversation_mcp.turns.resumer import Resumer
from conversation_mcp.turns.roster import RunningTurns
from conversation_mcp.turns.turn import NO_ASK, RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswers, with_unsaved
from conversation_mcp.turns.worker import TurnWorker

POLL_SECONDS = 0.2
STOP_SECONDS = 30.0


class View(NamedTuple):
    """A conversation as it is now, with notices about its state."""

    conversation: Conversation
    pending_age_seconds: int | None = None
    notices: tuple[str, ...] = ()


class WhileWaiting(NamedTuple):
    """What was learnt while waiting for a question."""

    conversation: Conversation | None = None
    """As it was read, if nothing has changed it since."""
    notices: tuple[str, ...] = ()


class Watch:
    """Shows conversations, settles the turns of dead servers, and stops turns."""

    def __init__(
        self,
        store: Store,
        worker: TurnWorker,
        running: RunningTurns,
        resumer: Resumer,
        unsaved: UnsavedAnswers,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._worker = worker
        self._running = running
        self._resumer = resumer
        self._unsaved = unsaved
        self._now = now

    async def look(self, conversation_id: str, caller: Caller) -> View:
        """Return the conversation; if a question is being answered, wait for it as long as the caller does.

        The turn of a dead server is settled first: its run is looked up once by its id.

        Raises:
            ConversationMCPError: the conversation cannot be read.
        """
        checked = check_id(conversation_id)
        await self._unsaved.retry(checked)
        seen, notices = await self._wait(checked, caller)
        conversation, more = await self._read(checked, seen)
        return self._view(checked, conversation, (*notices, *more))

    async def stop(self, conversation_id: str) -> Conversation:
        """Stop the question that is being answered, whether here, in another process or only at the provider.

        Raises:
            InvalidInputError: no question is being answered.
            ConversationBusyError: the process that runs the turn does not react.
        """
        checked = check_id(conversation_id)
        conversation = await self._store.load(checked)
        if turn := self._running.on(checked):
            turn.wishes.stop()
            await turn.wait(Caller(STOP_SECONDS).report, STOP_SECONDS)
        elif await self._store.turn_is_held(checked):
            started_at = (conversation.pending_turn and conversation.pending_turn.started_at) or ""
            await self._store.calls.ask_to_stop(Call(checked, started_at))
            # Not for the lock alone: the next question in the queue takes it at once.
            if not await self._wait_for_others(checked, Caller(STOP_SECONDS), started_at):
                raise ConversationBusyError(checked, STOP_SECONDS)
        elif conversation.pending_turn is None or conversation.pending_turn.status == "failed":
            raise InvalidInputError(f"no question of {checked} is being answered.")
        else:
            turn = RunningTurn(f"stop {checked}", NO_ASK, checked)
            self._running.begin(turn, self._worker.stop(turn, checked))
            outcome = await turn.wait(Caller(STOP_SECONDS).report, STOP_SECONDS)
            if isinstance(outcome, ConversationMCPError) and not isinstance(outcome, RunCancelledError):
                raise outcome
        return await self._store.load(checked)

    async def _wait(self, conversation_id: ConversationId, caller: Caller) -> WhileWaiting:
        if turn := self._running.on(conversation_id):
            await turn.wait(caller.report, caller.wait_seconds)
        elif await self._store.turn_is_held(conversation_id):
            await self._wait_for_others(conversation_id, caller)
        else:
            return await self._resume(conversation_id, caller)
        return WhileWaiting()

    async def _wait_for_others(self, conversation_id: ConversationId, caller: Caller, started_at: str = "") -> bool:
        """Wait until no process holds the turn lock, or that turn is over; return whether that came in time."""
        started = told = anyio.current_time()
        await caller.report(f"{conversation_id} · another process is answering")
        with self._store.hear(conversation_id) as ear, anyio.move_on_after(caller.wait_seconds) as patience:
            while await self._goes_on(conversation_id, started_at):
                await ear.pause(POLL_SECONDS)
                if (now := anyio.current_time()) - told >= HEARTBEAT_SECONDS:
                    told = now
                    await caller.report(f"{conversation_id} · another process is answering ({now - started:.0f} s)")
        return not patience.cancelled_caught

    async def _goes_on(self, conversation_id: ConversationId, started_at: str) -> bool:
        """Tell whether a process holds the turn lock, and still for the turn of that time, if there is one."""
        if not await self._store.turn_is_held(conversation_id):
            return False
        if not started_at:
            return True
        pending = (await self._store.load(conversation_id)).pending_turn
        return pending is not None and pending.started_at == started_at and pending.status != "failed"

    async def _resume(self, conversation_id: ConversationId, caller: Caller) -> WhileWaiting:
        try:
            conversation = await self._store.load(conversation_id)
        except ConversationMCPError:  # raised by the read that follows, or replaced there by an unsaved answer
            return WhileWaiting()
        pending = conversation.pending_turn
        if pending is None or pending.status == "failed" or (pending.status == "interrupted" and pending.error):
            return WhileWaiting(conversation)
        turn = await self._resumer.resume(conversation)
        outcome = await turn.wait(caller.report, caller.wait_seconds)
        if isinstance(outcome, ProviderError) and not outcome.ends_run:
            return WhileWaiting(notices=(outcome.message,))
        return WhileWaiting()

    async def _read(
        self, conversation_id: ConversationId, seen: Conversation | None
    ) -> tuple[Conversation, tuple[str, ...]]:
        unsaved = self._unsaved.get(conversation_id)
        if unsaved is None:
            return seen or await self._store.load(conversation_id), ()
        try:
            stored = seen or await self._store.load(conversation_id)
        except ConversationMCPError:
            stored = None
        return with_unsaved(stored, unsaved), (f"the last answer is not saved yet: {unsaved.problem}",)

    def _view(self, conversation_id: ConversationId, conversation: Conversation, notices: tuple[str, ...]) -> View:
        pending = conversation.pending_turn
        if pending is None:
            return View(conversation, None, notices)
        turn = self._running.on(conversation_id)
        if turn is not None and turn.run.text:  # more than the file, to which it is written every few seconds
            pending = pending.model_copy(update={"partial_text": turn.run.text})
            conversation = conversation.changed(pending_turn=pending)
        return View(conversation, self._age(pending.started_at), notices)

    def _age(self, started_at: str | None) -> int | None:
        """Return the seconds since that time; None if it cannot be parsed."""
        try:
            return max(0, round((self._now() - parse_time(started_at or "")).total_seconds()))
        except ValueError:
            return None
