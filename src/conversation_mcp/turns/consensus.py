"""A consensus: one question to several models side by side, as one turn under one lock."""

import logging
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup

from conversation_mcp.errors import (
    ConversationMCPError,
    InternalError,
    ProviderError,
    RunCancelledError,
    TurnLimitReachedError,
)
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.prompting.prompts import shipped_text
from conversation_mcp.providers.base import Event
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.records.models import Conversation, ConversationId, PendingCall, PendingTurn
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns import changes, consensus_changes
from conversation_mcp.turns.ask import Seat
from conversation_mcp.turns.composer import Composer, Material
from conversation_mcp.turns.consensus_changes import SYNTHESIS
from conversation_mcp.turns.consensus_receiver import VerdictReceiver
from conversation_mcp.turns.consensus_result import ConsensusResult, consensus_result
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.receiver import OpenQuestion, open_question
from conversation_mcp.turns.sender import TurnSender
from conversation_mcp.turns.turn import RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswers
from conversation_mcp.turns.worker import NewQuestion, TurnWorker

ASSUMED_ANSWER_TOKENS = 2_000
"""The length of an answer that a cost is estimated for before it begins."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Panel:
    """The models of a consensus, in the order of its seats, and the one that sums up."""

    choices: tuple[Choice, ...]
    synthesizer: Choice | None = None


@dataclass
class Voice:
    """One model that is to be asked, what came of it before, and its request."""

    seat: Seat
    choice: Choice
    call: PendingCall
    place: int
    composition: Composition | None = None
    receiver: VerdictReceiver | None = None
    opened: OpenQuestion | None = None


@dataclass
class Session:
    """A consensus that is on disk."""

    turn: RunningTurn
    panel: Panel
    material: Material
    before: Conversation
    """The conversation without the question."""
    conversation: Conversation
    pending: PendingTurn
    voices: list[Voice] = field(default_factory=list[Voice])

    @property
    def conversation_id(self) -> ConversationId:
        """The conversation in which it is asked."""
        return ConversationId(self.conversation.conversation_id)

    def calls(self) -> tuple[PendingCall, ...]:
        """Return the calls as they are now."""
        return tuple(voice.receiver.call if voice.receiver else voice.call for voice in self.voices)


class Consensus:
    """Asks the models of a consensus; what was answered before its server died is not asked again."""

    def __init__(
        self,
        store: Store,
        worker: TurnWorker,
        sender: TurnSender,
        unsaved: UnsavedAnswers,
        composer: Composer,
        daily_limit: DailyLimit,
        tasks: TaskGroup,
    ) -> None:
        self._store = store
        self._worker = worker
        self._sender = sender
        self._unsaved = unsaved
        self._composer = composer
        self._daily_limit = daily_limit
        self._tasks = tasks

    async def ask(self, turn: RunningTurn, call: Call, panel: Panel, material: Material) -> ConsensusResult:
        """Ask all models of the panel that have not answered yet.

        Raises:
            ConversationMCPError: nothing was sent, or no model answered; the file says why.
        """
        await self._composer.read(material)
        turn.course.is_queued = turn.conversation_id is not None
        wait_until = anyio.current_time() + self._worker.limits.lock_wait_seconds
        async with self._worker.locked(turn, call.conversation_id):
            pending = changes.pending_turn(turn.ask, panel.choices[0], call.started_at)
            question = NewQuestion(turn, call, panel.choices[0], pending, material, wait_until)
            session = await self._written(question, panel)
            turn.course.question = call
            return await self._carry(session)

    async def _written(self, question: NewQuestion, panel: Panel) -> Session:
        """Compose all requests, estimate their cost, and write the question before anybody is asked."""
        turn, material = question.turn, question.material
        before, earlier = await self._before(question)
        voices = self._voices(turn, panel, earlier)
        open_ones = [voice for voice in voices if voice.call.answer is None]
        contents: dict[str, bytes] = {}
        for voice in open_ones:
            if voice.call.response_id is None:
                await self._compose(voice, before, turn, material)
            contents |= dict(voice.composition.contents) if voice.composition else {}
        if all(voice.call.status == "failed" for voice in voices):
            errors = [voice.call.error for voice in voices if voice.call.error]
            raise ConversationMCPError("; ".join(error.message for error in errors))
        await self._daily_limit.check(_planned_usd(voices, panel))
        pending = question.pending
        if composed := next((voice.composition for voice in voices if voice.composition), None):
            pending = changes.composed(pending, replace(composed, notices=(), is_counted=False), ())
        calls = tuple(voice.call for voice in voices)
        pending = pending.model_copy(update={"calls": calls, "sent_to": consensus_changes.recipients(calls)})
        pending.model_fields_set.discard("notices")
        pending = pending.model_copy(update={"provider": None, "model": None, "notices": None})
        pending.model_fields_set.difference_update({"provider", "model", "notices"})
        if question.opens:
            conversation = changes.asked(before, pending)
            await self._store.create(conversation)
        else:
            conversation = await self._store.update(
                question.conversation_id,
                lambda stored, _: changes.asked(_without(stored, earlier), pending),
            )
        session = Session(turn, panel, material, before, conversation, pending, voices)
        if contents:
            await self._keep(session, contents)
        return session

    async def _before(self, question: NewQuestion) -> tuple[Conversation, PendingTurn | None]:
        """Return the conversation, and the same call that a dead server left in it."""
        ask, conversation_id = question.turn.ask, question.conversation_id
        if question.opens:
            system = ask.system or self._worker.prompt(ask.mode)
            return changes.new_conversation(conversation_id, system, question.material.continued), None
        await self._unsaved.require_saved(conversation_id)
        stored = await self._store.load(conversation_id)
        limit = self._worker.limits.max_turns
        if limit is not None and stored.turn_count >= limit:
            raise TurnLimitReachedError(conversation_id, limit)
        if stored.pending_turn is not None:
            await self._worker.settle_before(question)
            stored = await self._store.load(conversation_id)
        left, pending = question.turn.claim.left, stored.pending_turn
        earlier = pending if left and pending and pending.started_at == left.started_at and pending.calls else None
        return stored.changed(pending_turn=None), earlier

    def _voices(self, turn: RunningTurn, panel: Panel, earlier: PendingTurn | None) -> list[Voice]:
        known = list((earlier and earlier.calls) or ())
        voices: list[Voice] = []
        for place, (seat, choice) in enumerate(zip(turn.ask.seats, panel.choices, strict=True)):
            call = consensus_changes.call_of(seat, choice)
            before = next((one for one in known if _is_same(one, call)), None)
            if before and (before.answer or (before.response_id and before.status != "failed")):
                call = before
            voices.append(Voice(seat, choice, call, place))
        return voices

    async def _compose(self, voice: Voice, before: Conversation, turn: RunningTurn, material: Material) -> None:
        """Compose the request of one model; if it cannot take it, the others are asked all the same."""
        ask = turn.ask
        asked = replace(ask, question=f"{ask.question}\n\n{stance_text(voice.seat)}", model=voice.seat.model)
        own = replace(material, ask=asked)
        judged = material.holder(before, self._worker.sides) or before
        shared = self._worker.require_sharing(judged, asked, voice.choice)
        try:
            composition = await self._composer.composed(own, before, voice.choice)
        except ConversationMCPError as error:
            voice.call = voice.call.failed_with(error.code, error.message)
            voice.call = voice.call.model_copy(update={"sent_to": {}})
            return
        voice.composition = composition
        notices = (*(voice.call.notices or ()), *shared, *composition.notices)
        facts = {"notices": notices, "estimated_tokens": composition.tokens}
        voice.call = voice.call.model_copy(update={name: value for name, value in facts.items() if value})

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
        self._tasks.start_soon(self._sender.watch_for_stop, turn, call)
        with turn.wishes.sending():
            _report(session)
            async with anyio.create_task_group() as group:
                for voice in session.voices:
                    if voice.call.answer is None and voice.call.status != "failed":
                        group.start_soon(self._hear, session, voice)
            if session.panel.synthesizer and any(one.answer for one in session.calls()):
                await self._sum_up(session, session.panel.synthesizer)
            return await self._finish(session)
        return await self._stop(session)

    async def _hear(self, session: Session, voice: Voice) -> None:
        """Ask one model, or fetch what it has been asked already; its failure ends nothing else."""
        turn, pending = session.turn, session.pending
        own = RunningTurn("", turn.ask, session.conversation_id)
        asked = consensus_changes.as_question(pending, voice.call)
        opened = open_question(own, session.conversation, asked, newest=voice.choice.provider.name)
        receiver = VerdictReceiver(self._store, self._unsaved, voice.place, voice.call)
        voice.opened, voice.receiver = opened, receiver
        try:
            await receiver.receive(opened, voice.choice.provider, self._events(voice, opened))
        except ConversationMCPError as error:
            receiver.fail(error)
        except Exception:
            reference = secrets.token_hex(4)
            logger.exception("a model of a consensus failed unexpectedly, reference %s", reference)
            receiver.fail(InternalError(reference))
        _report(session)

    def _events(self, voice: Voice, opened: OpenQuestion) -> AsyncGenerator[Event]:
        provider = voice.choice.provider
        if voice.composition is None:
            return provider.follow(voice.call.response_id or "")
        whole = replace(opened, conversation=opened.conversation.changed(pending_turn=None))
        return provider.ask(self._sender.request_of(whole, voice.choice, voice.composition))

    async def _sum_up(self, session: Session, choice: Choice) -> None:
        """Ask the model that was named for it what follows from the verdicts."""
        session.turn.audience.report(f"{choice.shown} sums up the verdicts")
        said = consensus_changes.finished(session.before, session.pending, session.calls())
        seat = Seat(choice.naming, SYNTHESIS)
        call = consensus_changes.call_of(seat, choice)
        voice = Voice(seat, choice, call, len(session.voices))
        asked = replace(session.turn.ask, question=shipped_text("synthesis"), files=(), images=())
        own = replace(session.material, ask=asked, read=None)
        session.voices.append(voice)
        try:
            voice.composition = await self._composer.composed(own, said, choice)
            session.conversation = await self._store.update(
                session.conversation_id,
                lambda stored, _: consensus_changes.with_calls(stored, session.calls()),
            )
        except ConversationMCPError as error:
            voice.call = call.failed_with(error.code, error.message)
            return
        await self._hear(session, voice)

    async def _finish(self, session: Session) -> ConsensusResult:
        calls = session.calls()
        if not any(call.answer for call in calls):
            error = _worst(session)
            await self._fail(session, error)
            raise error
        notice, is_saved = None, True
        said = consensus_changes.finished(session.before, session.pending, calls)
        with anyio.CancelScope(shield=True):
            try:
                said = await self._store.update(
                    session.conversation_id,
                    lambda stored, _: consensus_changes.finished(stored, session.pending, calls),
                )
            except ConversationMCPError as error:
                notice, is_saved = f"THE VERDICTS COULD NOT BE SAVED: {error.message}", False
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
        with anyio.CancelScope(shield=True), suppress(ConversationMCPError):
            await self._store.update(
                session.conversation_id, lambda stored, _: consensus_changes.failed(stored, session.pending, error)
            )


def stance_text(seat: Seat) -> str:
    """Return what a model is told about the side it takes."""
    return seat.stance_prompt or shipped_text(f"stance_{seat.stance}")


def _is_same(one: PendingCall, other: PendingCall) -> bool:
    facts = ("provider", "model", "stance", "stance_prompt")
    return all(getattr(one, name) == getattr(other, name) for name in facts)


def _without(stored: Conversation, earlier: PendingTurn | None) -> Conversation:
    """Return the conversation without the question that is taken up again."""
    is_it = earlier and stored.pending_turn and stored.pending_turn.started_at == earlier.started_at
    return stored.changed(pending_turn=None) if is_it else stored


def _report(session: Session) -> None:
    answered = [call for call in session.calls() if call.answer]
    names = ", ".join(f"{call.model or call.provider} ({call.stance})" for call in answered)
    count = f"{len(answered)} of {len(session.voices)} answered"
    session.turn.audience.report(f"{count}: {names}" if names else count)


def _worst(session: Session) -> ConversationMCPError:
    """Return the first model's error, which names all models."""
    errors = [voice.receiver.error for voice in session.voices if voice.receiver and voice.receiver.error]
    named = "; ".join(f"{call.model or call.provider}: {call.error.message}" for call in session.calls() if call.error)
    error = errors[0]
    error.message = f"no model answered. {named}"
    return error


def _planned_usd(voices: Sequence[Voice], panel: Panel) -> float:
    """Return the estimated cost of all that is still to be asked, as far as prices are known."""
    asked = [(voice.choice, voice.composition.tokens) for voice in voices if voice.composition]
    if panel.synthesizer and asked:
        longest = max(tokens for _, tokens in asked)
        asked.append((panel.synthesizer, longest + len(voices) * ASSUMED_ANSWER_TOKENS))
    return sum(_usd(choice, tokens) for choice, tokens in asked)


def _usd(choice: Choice, tokens: int) -> float:
    facts = choice.facts
    return (tokens * (facts.price_in or 0) + ASSUMED_ANSWER_TOKENS * (facts.price_out or 0)) / 1_000_000
