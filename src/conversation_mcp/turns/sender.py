"""Sending of an open question: to the chosen model, then to the fallback models."""

from collections.abc import AsyncGenerator

from conversation_mcp.conversations.recipients import whereabouts_of
from conversation_mcp.errors import (
    BlindModelError,
    ConversationMCPError,
    ConversationTooLongError,
    InvalidInputError,
    ProviderError,
    RunCancelledError,
)
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.providers.base import Event, Provider, Request
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.whereabouts import Whereabouts
from conversation_mcp.records.models import Conversation
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.composer import Composer
from conversation_mcp.turns.disclosure import sharing_notices
from conversation_mcp.turns.material import Material
from conversation_mcp.turns.receiver import AnswerReceiver, OpenQuestion, open_question
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.stop_watch import StopWatch
from conversation_mcp.turns.summarizer import Summarizer


class TurnSender:
    """Sends questions that are on disk; the caller holds the turn lock."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        receiver: AnswerReceiver,
        composer: Composer,
        summarizer: Summarizer,
        stop_watch: StopWatch,
    ) -> None:
        self._store = store
        self._providers = providers
        self._receiver = receiver
        self._composer = composer
        self._summarizer = summarizer
        self._stop_watch = stop_watch

    async def send(
        self, opened: OpenQuestion, choice: Choice, composition: Composition, material: Material
    ) -> TurnResult:
        """Have what falls out summarised, then ask the chosen model, then the fallback models.

        The next one is asked as long as nothing can have been billed for the question.

        Raises:
            ProviderError: the error of the last model asked, which is in the file.
            FilesystemError: what the question names cannot be kept; nothing was sent.
        """
        others: list[Choice] | None = None
        self._heed_stops(opened)
        if composition.summaries:
            await self._keep(opened, composition, material)
            opened, composition = await self._summarizer.summarised(opened, choice, composition, material)
        while True:
            await self._keep(opened, composition, material)
            try:
                opened.turn.audience.report(f"asking {choice.provider.name}")
                events = choice.provider.ask(self.request_of(opened, choice, composition))
                return await self._carried(opened, choice.provider, events)
            except ProviderError as error:
                turn = opened.turn
                if not error.is_free or turn.run.response_id is not None:  # what may be paid for is not asked twice
                    raise
                if others is None:
                    others = await self._stand_ins(opened, choice, error)
                found = await self._first_that_fits(opened, material, others)
                if found is None or turn.wishes.is_stopped:
                    raise
                opened = await self._open_again(opened, (choice, composition), found, error)
                choice, composition = found

    async def carry(self, opened: OpenQuestion, provider: Provider, events: AsyncGenerator[Event]) -> TurnResult:
        """Consume the events of a provider until the answer is saved; a request to stop the turn ends its run.

        Raises:
            ConversationMCPError: there is no answer; the file says why.
        """
        self._heed_stops(opened)
        return await self._carried(opened, provider, events)

    async def _carried(self, opened: OpenQuestion, provider: Provider, events: AsyncGenerator[Event]) -> TurnResult:
        with opened.turn.wishes.sending():
            return await self._receiver.receive(opened, provider, events)
        # Only a stop leads here: it cancels the block above.
        return await self._receiver.stop(opened, provider, RunCancelledError(provider.name))

    async def _keep(self, opened: OpenQuestion, composition: Composition, material: Material) -> None:
        """Keep the files and images of the question, before they are sent."""
        contents = {key: data for key, data in composition.contents.items() if key not in material.held}
        if not contents:
            return
        try:
            await self._store.attachments.put(opened.conversation_id, contents)
        except ConversationMCPError as error:
            opened.turn.run.sent_to = opened.turn.run.sent_to.without_newest()
            await self._receiver.mark_failed(opened, error)
            raise
        material.held.update(contents)

    async def _first_that_fits(
        self, opened: OpenQuestion, material: Material, others: list[Choice]
    ) -> tuple[Choice, Composition] | None:
        """Take the next fallback whose window the conversation fits into off the list, with its request."""
        before = opened.conversation.changed(pending_turn=None)
        while others:
            other = others.pop(0)
            try:
                return other, await self._composer.composed(material, before, other)
            except (ConversationTooLongError, BlindModelError, InvalidInputError):  # the last of an image
                continue
        return None

    def request_of(self, opened: OpenQuestion, choice: Choice, composition: Composition) -> Request:
        """Return the request of an open question to one model."""
        ask = opened.turn.ask
        return Request(
            mode=ask.mode,
            messages=composition.messages,
            output_limit_tokens=self._composer.answer_room(choice, composition),
            preset=ask.preset,
            model=choice.model,
            options=ask.options,
            whereabouts=self._whereabouts(opened.conversation),
        )

    async def _stand_ins(self, opened: OpenQuestion, choice: Choice, error: ProviderError) -> list[Choice]:
        """Return the fallbacks; those that would take words off this machine are left out and named in `error`."""
        known = self._whereabouts(opened.conversation.changed(pending_turn=None))
        others = await self._providers.fallbacks(opened.turn.ask.mode, choice, known)
        able = [other for other in others if self._providers.may_stand_in(other, choice, known)]
        error.kept_from = tuple(other.shown for other in others if other not in able)
        return able

    async def _open_again(
        self,
        opened: OpenQuestion,
        failed: tuple[Choice, Composition],
        found: tuple[Choice, Composition],
        failure: ProviderError,
    ) -> OpenQuestion:
        (choice, before), (other, composition) = failed, found
        first, second = (one.name or one.provider.name for one in (choice, other))
        notice = (
            f"{first} did not take the question, and nothing was billed "
            f"({failure.code}: {failure.message.rstrip('.')}); {second} from the fallback list was asked instead"
        )
        shared = sharing_notices(
            opened.conversation.changed(pending_turn=None), other, self._providers.sides, may_leave=True
        )
        sent_to = opened.turn.run.sent_to.also(other.provider.name, other.side)
        told = tuple(told for told in opened.pending.notices or () if told not in before.notices)
        asked = opened.pending.model_copy(
            update={
                "sent_to": sent_to.known,
                "provider": other.provider.name,
                "model": other.name,
                "notices": (*told, notice),
            }
        )
        pending = changes.composed(asked, composition, shared)
        opened.turn.audience.report(notice)
        await self._store.update(opened.conversation_id, lambda stored, _: changes.asked_again(stored, pending))
        return open_question(opened.turn, opened.conversation, pending, sent_to.newest)

    def _whereabouts(self, conversation: Conversation) -> Whereabouts:
        return whereabouts_of(conversation, self._providers.sides)

    def _heed_stops(self, opened: OpenQuestion) -> None:
        """Look for stops from other processes, which can only leave word in the store, until the turn ends."""
        self._stop_watch.watch(opened.turn, Call(opened.conversation_id, opened.pending.started_at or ""))
