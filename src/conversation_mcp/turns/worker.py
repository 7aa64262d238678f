"""The work of a turn that holds the lock: to ask its question, or to end an earlier one."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

import anyio

from conversation_mcp.conversations.recipients import Recipients, whereabouts_of
from conversation_mcp.errors import (
    ConversationTooLongError,
    InvalidInputError,
    ProviderMissingError,
    RunAliveError,
    RunCancelledError,
    SightError,
    TurnLimitReachedError,
)
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.whereabouts import NOWHERE
from conversation_mcp.records.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.records.modes import Mode
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.ask import Ask
from conversation_mcp.turns.composer import Composer, LackingError
from conversation_mcp.turns.disclosure import sharing_notices
from conversation_mcp.turns.line import holding, why_left
from conversation_mcp.turns.material import Material
from conversation_mcp.turns.receiver import AnswerReceiver, open_question
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.sender import TurnSender
from conversation_mcp.turns.settler import AliveRun, Settler
from conversation_mcp.turns.turn import NO_ASK, RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswers

LOOK_SECONDS = 0.5
MAX_LOOK_SECONDS = 5.0


class TurnLimits(NamedTuple):
    """The limits of a turn."""

    lock_wait_seconds: float
    max_question_chars: int
    max_turns: int | None


class NewQuestion(NamedTuple):
    """A question to be written: its turn, its place, whom to ask, and what is sent along."""

    turn: RunningTurn
    call: Call
    choice: Choice
    pending: PendingTurn
    material: Material
    wait_until: float
    """The time by which the question before it must have ended."""

    @property
    def conversation_id(self) -> ConversationId:
        """The conversation in which it is written."""
        return self.call.conversation_id

    @property
    def opens(self) -> bool:
        """Whether it opens the conversation."""
        return self.turn.conversation_id is None


class Written(NamedTuple):
    """A question that is in its file, and the request that was composed for it."""

    conversation: Conversation
    composition: Composition


class TurnWorker:
    """Does the work of one turn at a time on each conversation."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        receiver: AnswerReceiver,
        sender: TurnSender,
        unsaved: UnsavedAnswers,
        settler: Settler,
        composer: Composer,
        prompts: Mapping[Mode, str],
        limits: TurnLimits,
    ) -> None:
        self._store = store
        self._providers = providers
        self._receiver = receiver
        self._sender = sender
        self._unsaved = unsaved
        self._settler = settler
        self._composer = composer
        self._prompts = prompts
        self.limits = limits

    @property
    def sides(self) -> Recipients:
        """The side of each configured provider."""
        return self._providers.sides

    def prompt(self, mode: Mode) -> str:
        """Return the usual system text of a mode."""
        return self._prompts[mode]

    async def ask(self, turn: RunningTurn, call: Call, choice: Choice, material: Material) -> TurnResult:
        """Ask the turn's question in the conversation of the call, or open that if its id is only reserved.

        Raises:
            ConversationBusyError: another turn kept the lock too long; nothing was sent.
            ConversationTooLongError: the conversation exceeds the model's window; nothing was sent.
            ConversationMCPError: there is no answer; if the question was sent, the file says why.
        """
        await self._composer.prepare(material, choice)
        turn.course.is_queued = turn.conversation_id is not None
        wait_until = anyio.current_time() + self.limits.lock_wait_seconds
        async with self.locked(turn, call.conversation_id):
            pending = changes.pending_turn(turn.ask, choice, call.started_at)
            question = NewQuestion(turn, call, choice, pending, material, wait_until)
            try:
                written = await (self._open(question) if question.opens else self._add(question))
            except (ConversationTooLongError, SightError) as error:
                error.conversation_id = turn.conversation_id
                await self._suggest(error, question)
                raise
            turn.course.question = call  # counts as sent from here on: an ending server waits for its answer
            pending = written.conversation.pending_turn or pending
            opened = open_question(turn, written.conversation, pending, newest=choice.provider.name)
            try:
                return await self._sender.send(opened, choice, written.composition, material)
            except SightError as error:  # only the server could tell that the model is blind
                await self._suggest(error, question)
                raise

    async def _suggest(self, error: ConversationTooLongError | SightError, question: NewQuestion) -> None:
        """Add models that can take the question: first those that disclose the words to no one new, then the others."""
        choice, mode = question.choice, question.turn.ask.mode
        stored = None if question.opens else await self._store.load(question.conversation_id)
        holder = question.material.holder(stored, self._providers.sides)
        known = whereabouts_of(holder, self._providers.sides) if holder else NOWHERE
        if known == NOWHERE or known.holds(choice.provider.name, choice.side):
            known = known.also_at(choice.provider.name, choice.side)
        if isinstance(error, SightError):
            near, others = await self._providers.seeing(mode, known)
        else:
            near, others = await self._providers.larger(mode, error.tokens, known, choice)
        near, others = (near, others) if known.is_kept_here else ((*near, *others), ())
        if isinstance(error, SightError):
            error.seeing, error.outside = near, others
        else:
            error.larger, error.outside = near, others

    async def _open(self, question: NewQuestion) -> Written:
        """Write the first state of the conversation, which has only the question."""
        ask, material = question.turn.ask, question.material
        system = ask.system or self._prompts[ask.mode]
        before = changes.new_conversation(question.conversation_id, system, material.continued)
        judged = material.holder(None, self._providers.sides)
        shared = self.require_sharing(judged, ask, question.choice) if judged else ()
        composition = await self._composer.composed(material, before, question.choice)
        conversation = changes.asked(before, changes.composed(question.pending, composition, shared))
        await self._store.create(conversation)
        return Written(conversation, composition)

    async def resume(self, turn: RunningTurn, conversation_id: ConversationId) -> TurnResult | None:
        """Settle the pending turn of a dead server; a run in the background is watched to its end.

        Raises:
            ConversationMCPError: another turn holds the lock, or the provider cannot be asked.
        """
        async with self.locked(turn, conversation_id):
            found = await self._settler.settle(conversation_id, turn)
            turn.course.has_looked = True
            if not isinstance(found, AliveRun):
                return found
            if not turn.run.in_background:
                return None
            turn.audience.report(found.look.progress)
            events = found.provider.follow(turn.run.response_id or "")
            return await self._sender.carry(found.opened, found.provider, events)

    async def stop(self, turn: RunningTurn, conversation_id: ConversationId) -> TurnResult | None:
        """Stop the run that a dead server left at its provider.

        Raises:
            InvalidInputError: nothing is left to stop.
            ProviderError: the run was stopped, as requested.
        """
        async with self.locked(turn, conversation_id):
            try:
                found = await self._settler.settle(conversation_id, turn)
            except ProviderMissingError as error:  # the run cannot be reached, but its conversation can be freed
                await self._settler.give_up(conversation_id, error)
                return None
            if found is None:
                raise InvalidInputError(f"no question of {conversation_id} is being answered.")
            if isinstance(found, AliveRun):
                return await self._receiver.stop(found.opened, found.provider, RunCancelledError(found.provider.name))
            return found

    def locked(self, turn: RunningTurn, conversation_id: ConversationId) -> AbstractAsyncContextManager[None]:
        """Hold the turn lock during the block; raises as `holding`."""
        return holding(self._store, conversation_id, turn, self.limits.lock_wait_seconds)

    async def _add(self, question: NewQuestion) -> Written:
        """Add the question to the file; an unanswered one before it is settled first."""
        conversation_id, material = question.conversation_id, question.material
        await self._unsaved.require_saved(conversation_id)
        if material.found:  # an update that lacks something is one more for nothing
            await self._composer.fetch(material, material.found, question.choice)
        settled = False
        compositions: list[Composition] = []

        def add(stored: Conversation, _now: str) -> Conversation:
            limit = self.limits.max_turns
            if limit is not None and stored.turn_count >= limit:
                raise TurnLimitReachedError(conversation_id, limit)
            judged = material.holder(stored, self._providers.sides) or stored
            shared = self.require_sharing(judged, question.turn.ask, question.choice)
            # Settling asks the provider, which cannot be done within an update. After it, a failed turn stays pending.
            if stored.pending_turn is not None and not settled:
                raise _UnsettledError
            compositions[:] = [self._composer.compose(material, stored, question.choice)]
            return changes.asked(stored, changes.composed(question.pending, compositions[0], shared))

        while True:
            try:
                return Written(await self._store.update(conversation_id, add), compositions[0])
            except _UnsettledError:
                await self.settle_before(question)
                settled = True
            except LackingError as lacking:
                await self._composer.fetch(material, lacking.conversation, question.choice)

    def require_sharing(self, conversation: Conversation, ask: Ask, choice: Choice) -> tuple[str, ...]:
        """Return the notices about new recipients of the conversation; raises WordsStayError if it may not leave."""
        may_leave = choice.is_named_by(ask.model) or self._providers.shares_always
        return sharing_notices(conversation, choice, self._providers.sides, may_leave=may_leave)

    async def settle_before(self, question: NewQuestion) -> None:
        """Settle the question before this one, whose answer may have arrived while nobody listened.

        If its run still continues at the provider, this one waits for it, as for a turn of another process.
        """
        turn, conversation_id = question.turn, question.conversation_id
        before = RunningTurn("", NO_ASK, conversation_id)  # a turn of its own, whose run is not mixed with this one's
        pause_seconds = LOOK_SECONDS
        turn.course.is_queued = True
        with turn.wishes.line():
            while isinstance(alive := await self._settler.settle(conversation_id, before), AliveRun):
                name, progress, waited_seconds = alive.provider.name, alive.look.progress, turn.audience.elapsed_seconds
                left_seconds = question.wait_until - anyio.current_time()
                if left_seconds <= 0:
                    raise RunAliveError(conversation_id, name, progress, waited_seconds)
                turn.audience.report(
                    f"waiting for the question before this one, which {name} still answers "
                    f"({progress}), {waited_seconds:.0f} s"
                )
                await anyio.sleep(min(pause_seconds, left_seconds))
                pause_seconds = min(2 * pause_seconds, MAX_LOOK_SECONDS)
            turn.course.is_queued = False
            return
        raise why_left(turn, conversation_id)


class _UnsettledError(Exception):
    """The question before this one has no outcome yet."""
