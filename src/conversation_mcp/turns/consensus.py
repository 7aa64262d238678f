"""A consensus: one question to several models side by side, as one turn under one lock."""

import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace

import anyio

from conversation_mcp.errors import (
    ConversationMCPError,
    InternalError,
    ProviderError,
    RunCancelledError,
)
from conversation_mcp.providers.base import Event
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.records.models import Conversation
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns import changes, consensus_changes
from conversation_mcp.turns.ask import Seat
from conversation_mcp.turns.composer import Composer
from conversation_mcp.turns.consensus_changes import SYNTHESIS
from conversation_mcp.turns.consensus_earlier import asked_again
from conversation_mcp.turns.consensus_opener import ConsensusOpener
from conversation_mcp.turns.consensus_receiver import VerdictReceiver
from conversation_mcp.turns.consensus_result import ConsensusResult, consensus_result
from conversation_mcp.turns.consensus_session import Panel, Session, Voice
from conversation_mcp.turns.material import Material
from conversation_mcp.turns.receiver import OpenQuestion, open_question
from conversation_mcp.turns.sender import TurnSender
from conversation_mcp.turns.stop_watch import StopWatch
from conversation_mcp.turns.turn import RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswer, UnsavedAnswers
from conversation_mcp.turns.worker import NewQuestion, TurnWorker

logger = logging.getLogger(__name__)


class Consensus:
    """Asks the models of a consensus; what was answered before its server died is not asked again."""

    def __init__(
        self,
        store: Store,
        worker: TurnWorker,
        sender: TurnSender,
        unsaved: UnsavedAnswers,
        composer: Composer,
        opener: ConsensusOpener,
        stop_watch: StopWatch,
    ) -> None:
        self._store = store
        self._worker = worker
        self._sender = sender
        self._unsaved = unsaved
        self._composer = composer
        self._opener = opener
        self._stop_watch = stop_watch

    async def ask(self, turn: RunningTurn, call: Call, panel: Panel, material: Material) -> ConsensusResult:
        """Ask all models of the panel that have not answered yet.

        Raises:
            ConversationMCPError: nothing was sent, or no model answered; the file says why.
        """
        await self._composer.read(material)
        for choice in panel.choices:
            with suppress(ConversationMCPError):  # what one model cannot take is said of that model alone
                await self._composer.prepare(material, choice)
        turn.course.is_queued = turn.conversation_id is not None
        wait_until = anyio.current_time() + self._worker.limits.lock_wait_seconds
        async with self._worker.locked(turn, call.conversation_id):
            pending = changes.pending_turn(turn.ask, panel.choices[0], call.started_at)
            question = NewQuestion(turn, call, panel.choices[0], pending, material, wait_until)
            session = await self._opener.opened(question, panel)
            turn.course.question = call
            if session.contents:
                await self._keep(session, session.contents)
            return await self._carry(session)

    async def _keep(self, session: Session, contents: dict[str, bytes]) -> None:
        try:
            await self._store.attachments.put(session.conversation_id, contents)
        except ConversationMCPError as error:
            await self._fail(session, error)
            raise

    async def _carry(self, session: Session) -> ConsensusResult:
        """Ask all models at once; a stop ends all their runs."""
        turn = session.turn
        call = Call(session.conversation_id, session.pending.started_at or "")
        self._stop_watch.watch(turn, call)
        with turn.wishes.sending():
            session.report()
            async with anyio.create_task_group() as group:
                for voice in session.voices:
                    if voice.call.answer is None and voice.call.status != "failed":
                        group.start_soon(self._hear, session, voice)
            if session.panel.synthesizer and session.awaits_synthesis:
                await self._sum_up(session, session.panel.synthesizer)
            return await self._finish(session)
        return await self._stop(session)

    async def _hear(self, session: Session, voice: Voice) -> None:
        """Ask one model, or fetch what it has been asked already; its failure ends nothing else."""
        turn, pending = session.turn, session.pending
        own = RunningTurn("", turn.ask, session.conversation_id)
        own.provider_calls = turn.provider_calls
        asked = consensus_changes.as_question(pending, voice.call)
        opened = open_question(own, session.conversation, asked, newest=voice.choice.provider.name)
        receiver = VerdictReceiver(self._store, self._unsaved, voice.place, voice.call, self._composer.redaction)
        voice.opened, voice.receiver = opened, receiver
        try:
            await receiver.receive(opened, voice.choice.provider, self._events(voice, opened))
        except ConversationMCPError as error:
            receiver.fail(error)
        except Exception:
            reference = secrets.token_hex(4)
            logger.exception("a model of a consensus failed unexpectedly, reference %s", reference)
            receiver.fail(InternalError(reference))
        session.report()

    def _events(self, voice: Voice, opened: OpenQuestion) -> AsyncGenerator[Event]:
        provider = voice.choice.provider
        if voice.composition is None:
            return provider.follow(voice.call.response_id or "")
        whole = opened._replace(conversation=opened.conversation.changed(pending_turn=None))
        return provider.ask(self._sender.request_of(whole, voice.choice, voice.composition))

    async def _sum_up(self, session: Session, choice: Choice) -> None:
        """Ask the model that was named for it what follows from the verdicts."""
        session.turn.audience.report(f"{choice.shown} sums up the verdicts")
        said = consensus_changes.finished(session.before, session.pending, session.calls())
        seat = Seat(choice.naming, SYNTHESIS)
        known = (session.earlier and session.earlier.calls) or ()
        call = asked_again(consensus_changes.call_of(seat, choice), known)
        voice = Voice(seat, choice, call, len(session.voices))
        asked = session.turn.ask._replace(question=self._opener.texts[SYNTHESIS], files=(), images=())
        own = replace(session.material, ask=asked, read=None)
        session.voices.append(voice)
        try:
            voice.composition = await self._composer.composed(own, said, choice)
            session.conversation = await self._store.update(
                session.conversation_id,
                lambda stored, _: consensus_changes.with_calls(stored, session.calls()),
            )
        except ConversationMCPError as error:
            voice.call = consensus_changes.failed_call(call, error)
            return
        await self._hear(session, voice)

    async def _finish(self, session: Session) -> ConsensusResult:
        calls = session.calls()
        if not any(call.answer for call in calls):
            error = session.failure()
            await self._fail(session, error)
            raise error
        notice, is_saved = None, True

        def add(stored: Conversation, _now: str) -> Conversation:
            return consensus_changes.finished(stored, session.pending, calls)

        said = add(session.before, "")
        with anyio.CancelScope(shield=True):
            try:
                said = await self._store.update(session.conversation_id, add)
            except ConversationMCPError as error:
                logger.warning("the verdicts could not be saved: %s", error.message)
                kept = UnsavedAnswer(session.before, session.pending, add, error.message)
                self._unsaved.keep(session.conversation_id, kept)
                notice, is_saved = kept.notice, False
        replies = [one for one in said.messages if one.stance]
        first = replies[len(replies) - sum(bool(call.answer) for call in calls)]
        path = self._store.location(session.conversation_id)
        return consensus_result(said, first, path, notice, is_saved=is_saved)

    async def _stop(self, session: Session) -> ConsensusResult:
        """Stop what still runs; what was answered stays with the question."""
        error = RunCancelledError("the consensus")
        for voice in session.voices:
            if voice.opened and voice.receiver and voice.receiver.call.answer is None:
                own = RunCancelledError(voice.choice.provider.name)
                with suppress(ProviderError):
                    await voice.receiver.stop(voice.opened, voice.choice.provider, own)
        error.keep_in(session.conversation_id)
        await self._fail(session, error)
        raise error

    async def _fail(self, session: Session, error: ConversationMCPError) -> None:
        """Record that the question has no outcome, beside the calls as they are."""
        error.keep_in(session.conversation_id)
        session.turn.claim.keeps_answers = any(call.answer for call in session.calls())
        with anyio.CancelScope(shield=True), suppress(ConversationMCPError):
            await self._store.update(
                session.conversation_id, lambda stored, _: consensus_changes.failed(stored, session.pending, error)
            )
