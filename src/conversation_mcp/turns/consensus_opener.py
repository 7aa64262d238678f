"""The way of a consensus to the disk: all requests are composed and their cost is known before anybody is asked."""

from dataclasses import replace

from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError, TurnLimitReachedError
from conversation_mcp.prompting.prompts import consensus_texts
from conversation_mcp.records.models import Conversation, PendingTurn
from conversation_mcp.stores.base import Store
from conversation_mcp.turns import changes, consensus_changes
from conversation_mcp.turns.ask import Seat
from conversation_mcp.turns.composer import Composer
from conversation_mcp.turns.consensus_earlier import is_to_be_asked, left_by, taken_up, voices_of
from conversation_mcp.turns.consensus_session import Panel, Session, Voice, failure_of, planned_usd
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.material import Material
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
        voices = voices_of(turn.ask, panel, earlier)
        kept = tuple(voice.call for voice in voices)
        contents: dict[str, bytes] = {}
        for voice in voices:
            if is_to_be_asked(voice.call):
                await self._compose(voice, before, turn, material)
                contents |= dict(voice.composition.contents) if voice.composition else {}
        if all(voice.problem for voice in voices):
            raise failure_of(voices)
        await self._daily_limit.check(planned_usd(voices, panel))
        pending = question.pending
        if composed := next((voice.composition for voice in voices if voice.composition), None):
            pending = changes.composed(pending, replace(composed, notices=(), is_counted=False), ())
        elif earlier:
            pending = pending.model_copy(update={"files": earlier.files, "images": earlier.images})
        calls = tuple(voice.call for voice in voices)
        used = consensus_changes.usage_of(calls)
        pending = pending.model_copy(update={"calls": calls, "sent_to": consensus_changes.recipients(calls)})
        pending = pending.model_copy(update={"usage": used}) if used else pending
        pending.model_fields_set.discard("notices")
        pending = pending.model_copy(update={"provider": None, "model": None, "notices": None})
        pending.model_fields_set.difference_update({"provider", "model", "notices"})
        if question.opens:
            conversation = changes.asked(before, pending)
            await self._store.create(conversation)
        else:
            conversation = await self._store.update(
                question.conversation_id,
                lambda stored, _: changes.asked(taken_up(stored, earlier, kept), pending),
            )
        return Session(turn, panel, material, before, earlier, conversation, pending, voices, contents)

    async def _before(self, question: NewQuestion) -> tuple[Conversation, PendingTurn | None]:
        """Return the conversation, and what the same call left in it."""
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
        earlier = left_by(question.turn.claim.left, stored)
        return stored.changed(pending_turn=None), earlier

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
            voice.problem, voice.call = error, consensus_changes.failed_call(voice.call, error)
            voice.call = voice.call.model_copy(update={"sent_to": {}})
            return
        voice.composition = composition
        notices = (*(voice.call.notices or ()), *shared, *composition.notices)
        facts = {"notices": notices, "estimated_tokens": composition.tokens}
        voice.call = voice.call.model_copy(update={name: value for name, value in facts.items() if value})

    def _stance(self, seat: Seat) -> str:
        return seat.stance_prompt or self.texts[seat.stance]
