"""The way of an answer from the provider's first event to the saved file, while the turn lock is held."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import NamedTuple

import anyio

from conversation_mcp.cancellation import finish, in_thread
from conversation_mcp.conversations.expiry import Expiries
from conversation_mcp.errors import ConversationMCPError, ProviderError, ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event, Finished, PassedOn, Progress, Provider, Started, TextDelta
from conversation_mcp.records.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.stores.base import Change, Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.provider_calls import ProviderCall
from conversation_mcp.turns.redaction import Redaction
from conversation_mcp.turns.result import TurnResult, answer_result
from conversation_mcp.turns.run import Run
from conversation_mcp.turns.turn import RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswer, UnsavedAnswers

PARTIAL_TEXT_SECONDS = 5.0
"""The time between writes of the text so far; each write stores the whole conversation durably."""
STOP_SECONDS = 15.0
WATCH_BROKEN_SECONDS = 600.0
FETCHED = "the connection broke off; the whole answer was fetched by its id, not asked for again"

Complete = Callable[[Conversation], Conversation]

logger = logging.getLogger(__name__)


def _as_it_is(conversation: Conversation) -> Conversation:
    return conversation


class OpenQuestion(NamedTuple):
    """A question on disk that waits for its answer."""

    turn: RunningTurn
    conversation: Conversation
    pending: PendingTurn

    @property
    def asked(self) -> PendingTurn:
        """The question with all its possible recipients so far."""
        known = self.turn.run.sent_to.known
        return self.pending if known is None else self.pending.model_copy(update={"sent_to": known})

    @property
    def conversation_id(self) -> ConversationId:
        """The id of the conversation."""
        return ConversationId(self.conversation.conversation_id)


def open_question(
    turn: RunningTurn, conversation: Conversation, pending: PendingTurn, newest: str | None = None
) -> OpenQuestion:
    """Start a new run (`Run.of`) of the turn for this question, which is on disk."""
    turn.run = Run.of(pending, newest)
    return OpenQuestion(turn, conversation, pending)


class AnswerReceiver:
    """Receives the answers to open questions; every outcome is in the file before any caller learns of it."""

    def __init__(
        self,
        store: Store,
        unsaved: UnsavedAnswers,
        expiries: Expiries,
        complete: Complete = _as_it_is,
        redaction: Redaction | None = None,
    ) -> None:
        """Make the receiver.

        Args:
            store: where the conversations are.
            unsaved: takes the answers that cannot be saved.
            expiries: tells when conversations are put away, which results say.
            complete: adds to a conversation what follows from its new answer; must not raise.
            redaction: what is done to answers and partial texts before they are stored.
        """
        self.redaction = redaction or Redaction(())
        self._complete = complete
        self._store = store
        self._unsaved = unsaved
        self._expiries = expiries

    async def receive(self, opened: OpenQuestion, provider: Provider, events: AsyncGenerator[Event]) -> TurnResult:
        """Consume the events of the provider and save the answer.

        Raises:
            ConversationMCPError: there is no answer; the file says why.
        """
        run = opened.turn.run
        try:
            answer = await self._answer(opened, provider, events)
        except ConversationMCPError as error:
            error.keep_in(opened.conversation_id)
            if not error.was_sent:
                run.sent_to = run.sent_to.without_newest()
            # A background run may still have the answer: its turn stays pending, to be settled later.
            if not (run.in_background and isinstance(error, ProviderError) and not error.ends_run):
                await self.mark_failed(opened, error)
            raise
        except BaseException:  # cancelled, because the server ends or a person stops the turn
            await finish(self.mark_broken_off(opened))
            raise
        return await self.save(opened, answer)

    async def _answer(self, opened: OpenQuestion, provider: Provider, events: AsyncGenerator[Event]) -> Answer:
        try:
            return await self._consume(opened, events)
        except ProviderError as error:
            run = opened.turn.run
            if error.ends_run or run.in_background or run.response_id is None:
                raise
            return await self._watch_broken(opened, provider.follow(run.response_id), error)

    async def _watch_broken(self, opened: OpenQuestion, events: AsyncGenerator[Event], error: ProviderError) -> Answer:
        """Fetch the answer of a run whose stream broke; raises the stream's error if the run has none."""
        run = opened.turn.run
        opened.turn.audience.report("the connection broke, looking for the answer")
        # Noted as in the background, the run can still be fetched if this process ends now. Its text comes again from
        # the beginning; what was seen is kept in case none comes.
        run.in_background, seen, run.text = True, run.text, ""
        await self.note(opened, background=True)
        try:
            with anyio.fail_after(WATCH_BROKEN_SECONDS):
                answer = await self._consume(opened, events)
                return answer._replace(notices=(FETCHED, *answer.notices))
        except ProviderError as problem:
            error.usage = problem.usage
            run.in_background = not problem.ends_run
            raise error from None
        except TimeoutError:
            raise error from None
        finally:
            run.text = run.text or seen

    async def _consume(self, opened: OpenQuestion, events: AsyncGenerator[Event]) -> Answer:
        run, audience, pending = opened.turn.run, opened.turn.audience, opened.pending
        call = ProviderCall(pending.provider or "", pending.model, is_fetch=run.response_id is not None)
        opened.turn.provider_calls.append(call)
        written_seconds, is_noted = anyio.current_time(), True
        async with aclosing(call.observed(events)) as observed:
            async for event in observed:
                match event:
                    case Finished():
                        return event.answer
                    case Started():  # noted at once: from now on the answer can be fetched if this process dies
                        run.response_id, run.in_background = event.response_id, event.background
                        is_noted = await self.note(opened)
                    case PassedOn():
                        run.sent_to = run.sent_to.also(event.provider, event.side)
                        is_noted = await self.note(opened)
                    case Progress():
                        audience.report(event.text)
                    case TextDelta():
                        audience.tell(event.text, replaces=run.hear(event.text, replaces=event.replaces))
                # A note that could not be written is tried again, together with the next text.
                waited_seconds = anyio.current_time() - written_seconds
                if waited_seconds >= PARTIAL_TEXT_SECONDS and (not is_noted or isinstance(event, TextDelta)):
                    written_seconds = anyio.current_time()
                    is_noted = await self.note(opened, partial_text=self.redaction.text(run.text) or None)
        raise ProviderUnavailableError(f"{opened.pending.provider} ended without an answer.", maybe_billed=True)

    async def stop(self, opened: OpenQuestion, provider: Provider, error: ProviderError) -> TurnResult:
        """Stop the provider's run, as a person asked; an answer that came first is kept.

        Raises:
            ProviderError: `error`, with the charge if it is known; the turn is marked as failed.
        """
        response_id = opened.turn.run.response_id
        if response_id is not None:
            with anyio.move_on_after(STOP_SECONDS):
                try:
                    if isinstance(look := await provider.cancel(response_id), Finished):
                        return await self.save(opened, look.answer)
                except ProviderError as problem:
                    error.usage = problem.usage
        error.keep_in(opened.conversation_id)
        await self.mark_failed(opened, error)
        raise error

    async def save(self, opened: OpenQuestion, answer: Answer) -> TurnResult:
        """Add the answer to the file; if that fails, return it all the same, with a loud notice."""
        conversation_id, notice = opened.conversation_id, None
        answer = await self.redacted(answer)
        answer = answer._replace(notices=(*(opened.pending.notices or ()), *answer.notices))
        saved, expiry = None, None

        def add(stored: Conversation, now: str) -> Conversation:
            return self._complete(changes.answered(stored, opened.asked, answer, now))

        with anyio.CancelScope(shield=True):  # the answer is paid for, so that a cancellation has to wait
            try:
                saved = await self.write(opened, add)
            except ConversationMCPError as error:
                logger.warning("an answer could not be saved: %s", error.message)
                kept = UnsavedAnswer(opened.conversation, opened.asked, add, error.message)
                self._unsaved.keep(conversation_id, kept)
                notice = kept.notice
            expiry = await self._expiries.of(saved) if saved else None
        return answer_result(
            answer,
            conversation_id=conversation_id,
            provider=opened.pending.provider,
            requested_model=opened.pending.model,
            path=self._store.location(conversation_id),
            saved=saved,
            asked=opened.pending,
            show_thinking=opened.turn.ask.show_thinking,
            expiry=expiry,
            extra_notice=notice,
        )

    async def redacted(self, answer: Answer) -> Answer:
        """Return the answer as it is stored and shown."""
        return await in_thread(self.redaction.answer, answer) if self.redaction.is_on else answer

    async def write(self, opened: OpenQuestion, change: Change) -> Conversation:
        """Apply a change to the conversation of the question; raises as `Store.update`."""
        return await self._store.update(opened.conversation_id, change)

    async def mark_failed(self, opened: OpenQuestion, error: ConversationMCPError) -> None:
        """Record why the question has no answer."""
        text = self.redaction.text(opened.turn.run.text)
        with anyio.CancelScope(shield=True):
            await self._try_update(opened, lambda stored, _: changes.failed(stored, opened.pending, error, text))

    async def mark_broken_off(self, opened: OpenQuestion) -> None:
        """Record that this server ended before the answer came; a run in the background simply continues."""
        run = opened.turn.run
        text = self.redaction.text(run.text)
        await self._try_update(
            opened,
            lambda stored, _: (
                changes.noted(stored, opened.pending, partial_text=text or None)
                if run.in_background
                else changes.interrupted(stored, opened.pending, text)
            ),
        )

    async def note(self, opened: OpenQuestion, **facts: object) -> bool:
        """Write facts about the run, with its recipients, and return whether that was possible."""
        return await self._try_update(opened, lambda stored, _: changes.noted(stored, opened.pending, **facts))

    async def _try_update(self, opened: OpenQuestion, change: Change) -> bool:
        """Apply the change and return whether it was written; it repeats the facts of the run, in case one got lost."""
        run = opened.turn.run
        facts = {
            "response_id": run.response_id,
            "background": run.in_background or None,
            "sent_to": run.sent_to.known,
        }
        try:
            await self.write(opened, lambda stored, now: changes.noted(change(stored, now), opened.pending, **facts))
        except ConversationMCPError as error:
            logger.warning("the outcome of a turn could not be saved: %s", error.message)
            return False
        return True
