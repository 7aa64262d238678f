"""Settling of turns whose server died: their answers are fetched by the id of the run, never asked for again."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from conversation_mcp.errors import ProviderError, ProviderMissingError, RunLostError
from conversation_mcp.providers.base import Finished, Provider, StillRunning
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.records.models import ConversationId, PendingTurn, parse_time
from conversation_mcp.stores.base import Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.receiver import AnswerReceiver, OpenQuestion, open_question
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.turn import RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswers

LOST_AFTER = timedelta(seconds=30)
"""For this long after the question, a provider may not know a run yet that it has accepted."""
PLAIN_RUN_LIMIT = timedelta(minutes=15)
"""After this long, a call that was not made for the background has lost its answer with its connection."""
BACKGROUND_RUN_LIMIT = timedelta(days=1)
"""After this long, an unfinished research must not block its conversation any longer."""


class AliveRun(NamedTuple):
    """A run that outlived its server and still continues at its provider."""

    opened: OpenQuestion
    provider: Provider
    look: StillRunning


def is_fetchable(pending: PendingTurn | None) -> bool:
    """Tell whether the turn has no outcome yet but a run that may have one."""
    return pending is not None and pending.status != "failed" and pending.error is None and bool(pending.response_id)


class Settler:
    """Ends the turns of dead servers. The caller holds the turn lock."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        receiver: AnswerReceiver,
        unsaved: UnsavedAnswers,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._providers = providers
        self._receiver = receiver
        self._unsaved = unsaved
        self._now = now

    async def settle(self, conversation_id: ConversationId, turn: RunningTurn) -> TurnResult | AliveRun | None:
        """Look once for the outcome of the pending turn and record it; return the result, or the run if it continues.

        Raises:
            ProviderError: the provider cannot be asked now; the turn stays as it is.
        """
        await self._unsaved.retry(conversation_id)
        conversation = await self._store.load(conversation_id)
        pending = conversation.pending_turn
        if pending is None or pending.status == "failed" or self._unsaved.get(conversation_id):
            return None
        provider = await self._providers.named(pending.provider)
        if not is_fetchable(pending):  # without the id of a run, the outcome of the call cannot be known
            await self._interrupt(conversation_id, pending)
            return None
        if provider is None:
            raise ProviderMissingError(str(pending.provider), conversation_id)
        opened = open_question(turn, conversation, pending)
        turn.audience.report(f"asking {provider.name} what became of the question")
        look = await self._look(opened, provider, pending.response_id or "")
        if isinstance(look, Finished):
            return await self._receiver.save(opened, look.answer)
        if isinstance(look, StillRunning):
            if self._age(pending) < (BACKGROUND_RUN_LIMIT if turn.run.in_background else PLAIN_RUN_LIMIT):
                return AliveRun(opened, provider, look)
            await self._interrupt(conversation_id, pending, RunLostError(provider.name))
        return None

    async def give_up(self, conversation_id: ConversationId, error: ProviderError) -> None:
        """Record that the answer of the pending turn will not be fetched."""
        conversation = await self._store.load(conversation_id)
        if conversation.pending_turn:
            await self._interrupt(conversation_id, conversation.pending_turn, error)

    async def _look(self, opened: OpenQuestion, provider: Provider, response_id: str) -> Finished | StillRunning | None:
        """Look at the run; None if it ended without an answer, which is then recorded."""
        try:
            return await provider.fetch(response_id)
        except RunLostError as error:
            if self._age(opened.pending) < LOST_AFTER:
                return StillRunning("not known there yet")
            await self._interrupt(opened.conversation_id, opened.pending, error)
        except ProviderError as error:
            if not error.ends_run:
                raise
            await self._receiver.mark_failed(opened, error)
        return None

    def _age(self, pending: PendingTurn) -> timedelta:
        # A time in the future (a clock that was set back) or an unreadable one must not make a turn young for ever.
        try:
            return abs(self._now() - parse_time(pending.started_at or ""))
        except ValueError:
            return timedelta.max

    async def _interrupt(
        self, conversation_id: ConversationId, pending: PendingTurn, error: ProviderError | None = None
    ) -> None:
        if pending.status == "running" or error is not None:
            await self._store.update(conversation_id, lambda stored, _: changes.interrupted(stored, pending, "", error))
