"""One turn from the open question to the saved answer, while the turn lock is held."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

import anyio

from conversation_mcp.cancellation import finish
from conversation_mcp.errors import ConversationMCPError, ProviderError, ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event, Finished, PassedOn, Progress, Provider, Started, TextDelta
from conversation_mcp.records.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.stores.base import Change, Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.result import TurnResult, answer_result
from conversation_mcp.turns.running import RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswer, UnsavedAnswers

PARTIAL_TEXT_SECONDS = 5.0
STOP_SECONDS = 15.0
WATCH_BROKEN_SECONDS = 600.0
FETCHED = "the connection broke off; the whole answer was fetched by its id, not asked for again"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenTurn:
    """A question that is on disk and waits for its answer."""

    turn: RunningTurn
    conversation: Conversation
    pending: PendingTurn

    @property
    def asked(self) -> PendingTurn:
        """The question with everybody who may have got it by now."""
        sent_to = self.turn.sent_to
        return self.pending if sent_to is None else self.pending.model_copy(update={"sent_to": sent_to})

    @property
    def conversation_id(self) -> ConversationId:
        """The id of the conversation."""
        return ConversationId(self.conversation.conversation_id)


class TurnRunner:
    """Carries an open turn to its end; whatever happens stands in the file before anybody is told."""

    def __init__(self, store: Store, unsaved: UnsavedAnswers) -> None:
        self._store = store
        self._unsaved = unsaved

    async def carry(self, opened: OpenTurn, provider: Provider, events: AsyncGenerator[Event]) -> TurnResult:
        """Consume the events of the provider and save the answer.

        Raises:
            ConversationMCPError: there is no answer; the file says so.
        """
        try:
            answer = await self._answer(opened, provider, events)
        except ConversationMCPError as error:
            error.keep_in(opened.conversation_id)
            if not error.was_sent:
                opened.turn.take_back()
            if not (opened.turn.background and isinstance(error, ProviderError) and not error.ends_run):
                await self.mark_failed(opened, error)
            raise
        except BaseException:
            await finish(self._mark_broken_off(opened))
            raise
        return await self.save(opened, answer)

    async def _answer(self, opened: OpenTurn, provider: Provider, events: AsyncGenerator[Event]) -> Answer:
        try:
            return await self._consume(opened, events)
        except ProviderError as error:
            turn = opened.turn
            if error.ends_run or turn.background or turn.response_id is None:
                raise
            return await self._watch_broken(opened, provider.follow(turn.response_id), error)

    async def _watch_broken(self, opened: OpenTurn, events: AsyncGenerator[Event], error: ProviderError) -> Answer:
        """Get the answer of a run whose stream broke; raises the error of the stream when the run has none."""
        turn = opened.turn
        turn.report("the connection broke, looking for the answer")
        turn.background, seen, turn.partial_text = True, turn.partial_text, ""
        await self._note(opened, background=True)
        try:
            with anyio.fail_after(WATCH_BROKEN_SECONDS):
                answer = await self._consume(opened, events)
                return replace(answer, notices=(FETCHED, *answer.notices))
        except ProviderError as problem:
            error.usage = problem.usage
            turn.background = not problem.ends_run
            raise error from None
        except TimeoutError:
            raise error from None
        finally:
            turn.partial_text = turn.partial_text or seen

    async def _consume(self, opened: OpenTurn, events: AsyncGenerator[Event]) -> Answer:
        turn, written_seconds, is_noted = opened.turn, anyio.current_time(), True
        async with aclosing(events):
            async for event in events:
                match event:
                    case Finished():
                        return event.answer
                    case Started():
                        turn.response_id, turn.background = event.response_id, event.background
                        is_noted = await self._note(opened)
                    case PassedOn():
                        turn.send_to(event.provider, event.side)
                        is_noted = await self._note(opened)
                    case Progress():
                        turn.report(event.text)
                    case TextDelta():
                        turn.hear(event.text, replaces=event.replaces)
                waited_seconds = anyio.current_time() - written_seconds
                if waited_seconds >= PARTIAL_TEXT_SECONDS and (not is_noted or isinstance(event, TextDelta)):
                    written_seconds = anyio.current_time()
                    is_noted = await self._note(opened, partial_text=turn.partial_text or None)
        raise ProviderUnavailableError(f"{opened.pending.provider} ended without an answer.", maybe_billed=True)

    async def stop(self, opened: OpenTurn, provider: Provider, error: ProviderError) -> TurnResult:
        """Stop the provider's run after a person wished so; an answer that was faster is kept.

        Raises:
            ProviderError: `error`, with what was charged if that is known; the turn is marked as failed.
        """
        turn = opened.turn
        if turn.response_id is not None:
            with anyio.move_on_after(STOP_SECONDS):
                try:
                    if isinstance(look := await provider.cancel(turn.response_id), Finished):
                        return await self.save(opened, look.answer)
                except ProviderError as problem:
                    error.usage = problem.usage
        error.keep_in(opened.conversation_id)
        await self.mark_failed(opened, error)
        raise error

    async def save(self, opened: OpenTurn, answer: Answer) -> TurnResult:
        """Add the answer to the file; where that fails the answer is returned all the same, with a loud notice."""
        return await finish(self._save(opened, answer))

    async def _save(self, opened: OpenTurn, answer: Answer) -> TurnResult:
        conversation_id, notice = opened.conversation_id, None
        answer = replace(answer, notices=(*(opened.pending.notices or ()), *answer.notices))
        saved: Conversation | None = None
        try:
            saved = await self._store.update(
                conversation_id, lambda stored, now: changes.answered(stored, opened.asked, answer, now)
            )
        except ConversationMCPError as error:
            logger.warning("an answer could not be saved: %s", error.message)
            kept = UnsavedAnswer(opened.conversation, opened.asked, answer, error.message)
            self._unsaved.keep(conversation_id, kept)
            notice = kept.notice
        return answer_result(
            answer,
            conversation_id=conversation_id,
            provider=opened.pending.provider,
            requested_model=opened.pending.model,
            path=self._store.location(conversation_id),
            saved=saved,
            show_thinking=opened.turn.ask.show_thinking,
            extra_notice=notice,
        )

    async def mark_failed(self, opened: OpenTurn, error: ConversationMCPError) -> None:
        """Write down why the question has no answer."""
        text = opened.turn.partial_text
        await finish(self._try_update(opened, lambda stored, _: changes.failed(stored, opened.pending, error, text)))

    async def _mark_broken_off(self, opened: OpenTurn) -> None:
        """Write down that this server ended before the answer came; a run in the background simply goes on."""
        text, background = opened.turn.partial_text, opened.turn.background
        await self._try_update(
            opened,
            lambda stored, _: (
                changes.noted(stored, opened.pending, partial_text=text or None)
                if background
                else changes.interrupted(stored, opened.pending, text)
            ),
        )

    async def _note(self, opened: OpenTurn, **facts: object) -> bool:
        return await self._try_update(opened, lambda stored, _: changes.noted(stored, opened.pending, **facts))

    async def _try_update(self, opened: OpenTurn, change: Change) -> bool:
        """Apply the change, together with the id of the run: an earlier try to write that may have failed."""
        turn = opened.turn
        run = {
            "response_id": turn.response_id,
            "background": turn.background or None,
            "sent_to": turn.sent_to,
        }
        try:
            await self._store.update(
                opened.conversation_id, lambda stored, now: changes.noted(change(stored, now), opened.pending, **run)
            )
        except ConversationMCPError as error:
            logger.warning("what became of a turn could not be written: %s", error.message)
            return False
        return True
