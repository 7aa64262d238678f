"""The way of a consensus to the disk: all requests are composed and their cost is known before anybody is asked."""

from dataclasses import replace

from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError, TurnLimitReachedError
from conversation_mcp.prompting.prompts import consensus_texts
from conversation_mcp.records.models import Conversation, PendingCall, PendingTurn
from conversation_mcp.stores.base import Store
from conversation_mcp.turns import changes, consensus_changes
from conversation_mcp.turns.ask import Seat
from conversation_mcp.turns.composer import Composer, Material
from conversation_mcp.turns.consensus_session import Panel, Session, Voice, planned_usd
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.turn import RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswers
from conversation_mcp.turns.worker import NewQuestion, TurnWorker


class ConsensusOpener:
    """Writes consensus questions; the caller holds the turn lock."""

    def __init__(
        self, store: Store, worker: TurnWorker, unsaved: UnsavedAnswers, composer: Composer, daily_limit: DailyLimit
    ) -> None:
        self._store = store
        self._worker = worker
        self._unsaved = unsaved
        self._composer = composer
        self._daily_limit = daily_limit
        self.texts: dict[str, str] = {}
        """What models are told, by stance; empty before the first consensus."""

    async def opened(self, question: NewQuestion, panel: Panel) -> Session:
        """Compose all requests, estimate their cost, and write the question before anybody is asked."""
        turn, material = question.turn, question.material
        self.texts = self.texts or await to_thread.run_sync(consensus_texts)
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
        await self._daily_limit.check(planned_usd(voices, panel))
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
        return Session(turn, panel, material, before, conversation, pending, voices, contents)

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
        asked = ask._replace(question=f"{ask.question}\n\n{self._stance(voice.seat)}", model=voice.seat.model)
        own = replace(material, ask=asked)
        judged = material.holder(before, self._worker.sides) or before
        shared = self._worker.require_sharing(judged, asked, voice.choice)
        try:
            composition = await self._composer.composed(own, before, voice.choice)
        except ConversationMCPError as error:
            voice.call = consensus_changes.failed_call(voice.call, error)
            voice.call = voice.call.model_copy(update={"sent_to": {}})
            return
        voice.composition = composition
        notices = (*(voice.call.notices or ()), *shared, *composition.notices)
        facts = {"notices": notices, "estimated_tokens": composition.tokens}
        voice.call = voice.call.model_copy(update={name: value for name, value in facts.items() if value})

    def _stance(self, seat: Seat) -> str:
        return seat.stance_prompt or self.texts[seat.stance]


def _is_same(one: PendingCall, other: PendingCall) -> bool:
    facts = ("provider", "model", "stance", "stance_prompt")
    return all(getattr(one, name) == getattr(other, name) for name in facts)


def _without(stored: Conversation, earlier: PendingTurn | None) -> Conversation:
    """Return the conversation without the question that is taken up again."""
    is_it = earlier and stored.pending_turn and stored.pending_turn.started_at == earlier.started_at
    return stored.changed(pending_turn=None) if is_it else stored
