"""The turn engine: accepts a question, runs its turn outside the request, and waits as long as the caller does."""

from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from conversation_mcp.cancellation import finish
from conversation_mcp.conversations.recipients import whereabouts_of
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
from conversation_mcp.providers.base import as_reader
from conversation_mcp.providers.catalog import LOCAL
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.whereabouts import NOWHERE
from conversation_mcp.records.ids import check_id, created_at
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.records.modes import ModeOf
from conversation_mcp.records.options import refuse_paths
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.claims import Claims
from conversation_mcp.turns.composer import Composer
from conversation_mcp.turns.consensus import Consensus
from conversation_mcp.turns.consensus_names import panel_of
from conversation_mcp.turns.consensus_session import Panel
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.earlier_calls import note_told
from conversation_mcp.turns.kept import kept
from conversation_mcp.turns.material import Material
from conversation_mcp.turns.owner_limits import OwnerLimits
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.roster import RunningTurns
from conversation_mcp.turns.turn import RunningTurn
from conversation_mcp.turns.worker import TurnLimits, TurnWorker


class TurnEngine:
    """Asks questions. A turn belongs to the task group, not to the request that began it."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        worker: TurnWorker,
        consensus: Consensus,
        running: RunningTurns,
        claims: Claims,
        daily_limit: DailyLimit,
        owner_limits: OwnerLimits,
        limits: TurnLimits,
        composer: Composer,
        mode_of: ModeOf,
        now: Callable[[], datetime],
        trouble: Callable[[], str | None] | None = None,
    ) -> None:
        """Prepare the engine; `trouble` returns what went wrong beside the store and every result should say."""
        self._store = store
        self._providers = providers
        self._worker = worker
        self._consensus = consensus
        self._running = running
        self._daily_limit = daily_limit
        self._owner_limits = owner_limits
        self._limits = limits
        self._claims = claims
        self._composer = composer
        self._mode_of = mode_of
        self._now = now
        self._trouble = trouble

    async def start(self, ask: Ask, caller: Caller) -> TurnResult:
        """Open a conversation with the question.

        Raises:
            ConversationMCPError: nothing was written, or the file says why there is no answer.
        """
        return await self._call(ask._replace(system=caller.system), None, caller)

    async def follow_up(self, conversation_id: str, ask: Ask, caller: Caller) -> TurnResult:
        """Ask the next question of a conversation; the provider sees all that was said before.

        Raises:
            ConversationMCPError: as `start`; ConversationBusyError when another turn kept the lock too long.
        """
        return await self._call(ask, check_id(conversation_id), caller)

    async def _call(self, ask: Ask, conversation_id: ConversationId | None, caller: Caller) -> TurnResult:
        self._check_question(ask)
        stored = await self._stored(conversation_id)
        material = await self._composer.begin(ask, caller, stored)
        ask = material.ask
        choice = await (self._panel(material, stored) if ask.seats else self._choose(material, stored))
        if isinstance(choice, Choice) and not as_reader(choice.provider):
            refuse_paths(ask.options, LOCAL)
        key = ask.key(caller.owner, conversation_id, caller.pipe, caller.handed)
        # A turn that was given up has no answer to join. From the last look to `begin` nothing is awaited, so that the
        # same call in another request finds this turn.
        while (turn := self._running.get(key)) and turn.wishes.is_given_up:
            await turn.wait_end()
        if turn is None:
            turn = RunningTurn(key, ask, conversation_id)
            self._running.begin(turn, self._claimed(turn, choice, material, is_there=stored is not None))
        return await self._wait(turn, caller)

    async def _stored(self, conversation_id: ConversationId | None) -> Conversation | None:
        """Return the conversation if it can be read; if not, the turn raises the reason."""
        if conversation_id is not None:
            with suppress(ConversationMCPError):
                return await self._store.load(conversation_id)
        return None

    async def _choose(self, material: Material, stored: Conversation | None) -> Choice:
        """Return the provider and model to ask; if none is named, the last ones that answered and can do it.

        Raises:
            WordsStayError: the words would leave this machine, and the call does not say so.
        """
        ask = material.ask

        async def needed() -> int:
            return await self._composer.needed_tokens(material, stored)

        await self._providers.all()
        stored = material.holder(stored, self._providers.sides)
        known = whereabouts_of(stored, self._providers.sides) if stored else NOWHERE
        stays = kept(stored, ask.mode, self._mode_of) if stored else ()
        choice = await self._providers.choose(
            ask.mode,
            ask.model,
            preset=ask.preset,
            kept=stays,
            needed=needed,
            whereabouts=known,
            has_images=bool(ask.images),
        )
        if stored and known.is_kept_here:
            try:
                self._worker.require_sharing(stored, ask, choice)
            except WordsStayError as error:
                mode, error.models_here = await self._providers.keeping(ask.mode)
                error.is_chat_only = mode != ask.mode
                raise
        await self._providers.require_writer(choice, known)
        return choice

    async def _panel(self, material: Material, stored: Conversation | None) -> Panel:
        """Return the models of a consensus.

        Raises:
            InvalidInputError: names that are wrong or given twice, all in one message.
            WordsStayError: as for a single model.
        """
        ask = material.ask

        async def choose(model: str) -> Choice:
            return await self._choose(replace(material, ask=ask._replace(model=model)), stored)

        return await panel_of(ask, choose)

    def _check_question(self, ask: Ask) -> None:
        if not ask.question.strip():
            raise InvalidInputError(Argument(ask.question_name), " must not be empty.")
        if len(ask.question) > (limit := self._limits.max_question_chars):
            raise InvalidInputError(
                Argument(ask.question_name),
                f" has {len(ask.question):,} characters; at most {limit:,} are accepted.",
            )

    async def _wait(self, turn: RunningTurn, caller: Caller) -> TurnResult:
        try:
            with turn.audience.attended(caller):
                outcome = await turn.wait(caller.report, caller.wait_seconds, until_asked=caller.on_asked is not None)
        finally:
            # Without a waiter, a question that is still in the queue must not be sent, and billed, later.
            if turn.is_queued and turn.audience.is_empty:
                turn.wishes.give_up()
        if outcome is None:
            conversation_id = turn.conversation_id
            if conversation_id is None or (turn.is_left and not turn.run.in_background):
                raise ServerEndedError(str(conversation_id)) if turn.question else ServerEndingError
            if turn.is_queued:
                raise ConversationBusyError(conversation_id, turn.audience.elapsed_seconds)
            if caller.on_asked and turn.place:
                caller.on_asked(turn.place)
            turn.audience.promise()
            return TurnResult.of(
                conversation_id=conversation_id,
                status="running",
                progress=turn.audience.doing,
                elapsed_seconds=round(turn.audience.elapsed_seconds),
                conversation_path=self._store.location(conversation_id),
            )
        call = turn.claim.call
        # After an error that leaves a run in the background, the call stays on record: asked again, it joins the run.
        if call and not (turn.run.in_background and isinstance(outcome, ProviderError) and not outcome.ends_run):
            is_kept = turn.claim.keeps_answers or not turn.is_follow_up
            stays = isinstance(outcome, ConversationMCPError) and is_kept
            note = partial(note_told, self._store.calls, turn.key, call, stays=stays)
            await finish(caller.on_result(note))
        if isinstance(outcome, ConversationMCPError):
            raise outcome
        return outcome

    @property
    def _can_refuse(self) -> bool:
        return self._daily_limit.is_set or self._owner_limits.is_set

    async def _claimed(
        self, turn: RunningTurn, choice: Choice | Panel, material: Material, *, is_there: bool
    ) -> TurnResult:
        """Join the same call made elsewhere, or run the turn under the call's name."""
        given = turn.conversation_id
        if given is not None and not is_there and not await self._store.exists(given):
            await self._store.load(given)  # raises the reason before a lock or a name is left behind
        # Where nothing can refuse it in between, a follow-up takes its name and records it in one step.
        planned = Call(given, iso(self._now())) if given and not self._can_refuse else None
        async with self._claims.taken(turn, planned) as earlier, AsyncExitStack() as stack:
            if earlier:
                return earlier
            await stack.enter_async_context(self._owner_limits.admitted(opens=turn.conversation_id is None))
            await self._daily_limit.check()  # only now: an answer that is paid for is delivered over the limit, too
            own = turn.conversation_id or await self._store.reserve()
            call = turn.claim.call or Call(own, iso(self._now()) if turn.conversation_id else created_at(own))
            try:
                async with self._claims.registered(turn, call):
                    if isinstance(choice, Panel):
                        return self._told(await self._consensus.ask(turn, call, choice, material))
                    answered = self._told(await self._worker.ask(turn, call, choice, material))
                    return await self._daily_limit.with_notice(answered)
            finally:
                if turn.conversation_id is None:  # refused before anything was written: the reserved id is free again
                    await finish(self._store.unreserve(own))

    def _told(self, result: TurnResult) -> TurnResult:
        """Return the result with a notice of what went wrong beside the store."""
        trouble = self._trouble() if self._trouble else None
        return result.model_copy(update={"notices": (*(result.notices or ()), trouble)}) if trouble else result
