"""Summaries instead of holes: what falls out of a request is summarised before its question is sent."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import anyio

from conversation_mcp.cancellation import finish
from conversation_mcp.conversations.recipients import whereabouts_of
from conversation_mcp.errors import ConversationMCPError, RunCancelledError
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.whereabouts import Side
from conversation_mcp.records.models import Conversation, ConversationId, Summary, TurnError, iso
from conversation_mcp.stores.base import Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.composer import Composer
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.disclosure import sharing_notices
from conversation_mcp.turns.material import Material
from conversation_mcp.turns.receiver import AnswerReceiver, OpenQuestion, open_question
from conversation_mcp.turns.run import SentTo
from conversation_mcp.turns.summary_writer import SummaryWriter, Writing

UNWRITTEN = "what falls out was not summarised, because who gets it could not be written down first"

logger = logging.getLogger(__name__)


@dataclass
class _Question:
    """A question that is on disk and not sent yet."""

    opened: OpenQuestion
    choice: Choice
    composition: Composition
    material: Material
    before: Conversation
    """The conversation as requests are composed from it, with the summaries so far."""
    writer: str | None = None
    """The provider that writes the summaries."""


class Summarizer:
    """Has summaries written; the caller holds the turn lock."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        receiver: AnswerReceiver,
        composer: Composer,
        writer: SummaryWriter,
        daily_limit: DailyLimit,
        model: str | None,
        now: Callable[[], datetime],
    ) -> None:
        """Make it; `model` names who writes, None that nobody does."""
        self._store = store
        self._providers = providers
        self._receiver = receiver
        self._composer = composer
        self._writer = writer
        self._daily_limit = daily_limit
        self._model = model
        self._now = now

    async def summarised(
        self, opened: OpenQuestion, choice: Choice, composition: Composition, material: Material
    ) -> tuple[OpenQuestion, Composition]:
        """Return the question and its request once what falls out is summarised; a failure is only a notice.

        Raises:
            RunCancelledError: the turn was stopped; the question was not sent, and the file says so.
        """
        if self._model is None or not composition.summaries:
            return opened, composition
        before = opened.conversation.changed(pending_turn=None)
        question, turn, notices = _Question(opened, choice, composition, material, before), opened.turn, ()
        try:
            with turn.wishes.sending():
                notices = await self._written(question, self._model)
        except BaseException:  # cancelled, because the server ends: the question was not sent
            _take_back(question)
            await finish(self._receiver.mark_broken_off(opened))
            raise
        if turn.wishes.is_stopped:
            error = RunCancelledError(choice.provider.name)
            error.keep_in(opened.conversation_id)
            _take_back(question)
            await self._receiver.mark_failed(opened, error)
            raise error
        return await self._composed_again(question, notices)

    async def _written(self, question: _Question, model: str) -> tuple[str, ...]:
        """Have the summaries written, and return the notices about them."""
        opened, run, asked = question.opened, question.opened.turn.run, question.choice.provider.name
        try:
            writer, shared = await self._chosen(question, model)
        except ConversationMCPError as error:
            return (f"what falls out could not be summarised by {model}: {error.message.rstrip('.')}",)
        before, name = run.sent_to, writer.provider.name
        run.sent_to = before.also(name, writer.side)
        if not await self._receiver.note(opened):
            run.sent_to = before
            return (UNWRITTEN,)
        question.writer = name
        opened.turn.audience.report(f"summarising earlier messages with {writer.shown}")
        writing = self._writing(question, writer)
        notices = await self._each(question, writing)
        run.sent_to = (
            SentTo(run.sent_to.known, None if name == asked else before.newest) if writing.was_sent else before
        )
        return (*shared, *notices)

    def _writing(self, question: _Question, writer: Choice) -> Writing:
        async def keep(conversation_id: str, summary: Summary) -> None:
            with anyio.CancelScope(shield=True):  # it is paid for
                await self._keep(question, conversation_id, summary)

        opened, turn = question.opened, question.opened.turn

        async def passed_on(name: str, side: Side) -> None:
            turn.run.sent_to = turn.run.sent_to.also(name, side)
            await self._receiver.note(opened)

        return Writing(
            opened.conversation_id,
            writer,
            whereabouts_of(opened.conversation, self._providers.sides),
            lambda: iso(self._now()),
            keep,
            self._daily_limit.check,
            passed_on,
            lambda: turn.wishes.is_stopped,
            turn.provider_calls,
        )

    async def _each(self, question: _Question, writing: Writing) -> list[str]:
        """Have one summary written after the other, those of the newest conversation first, until one fails."""
        notices: list[str] = []
        for needed in reversed(question.composition.summaries):
            said = [one for one in question.composition.left_out if one.conversation_id == needed.conversation_id]
            notice, is_written = await self._writer.write(writing, needed, said)
            notices.append(notice)
            if not (is_written and writing.rounds_left):
                break
        return notices

    async def _chosen(self, question: _Question, model: str) -> tuple[Choice, tuple[str, ...]]:
        """Return who writes, and the notices about a new recipient.

        A writer that the setting does not name, such as one that auto finds, is no new recipient if the model that is
        asked anyway can write.

        Raises:
            WordsStayError: the words would leave this machine, and the setting does not name their recipient.
            ConversationMCPError: nobody can be asked.
        """
        asked, sides = question.choice, self._providers.sides
        holder = question.material.holder(question.before, sides) or question.before
        known = whereabouts_of(holder, sides)
        found = await self._providers.choose("chat", model, whereabouts=known)
        may_leave = found.is_named_by(model) or self._providers.shares_always
        has_them = known.also_at(asked.provider.name, asked.side).holds(found.provider.name, found.side)
        if not (may_leave or has_them) and asked.model and "chat" in asked.provider.abilities:
            found = asked
        if (found.provider.name, found.side) == (asked.provider.name, asked.side):
            return found, ()
        return found, sharing_notices(holder, found, sides, may_leave=may_leave)

    async def _keep(self, question: _Question, conversation_id: str, summary: Summary) -> None:
        """Store a summary with its conversation, and let the request that is composed next know it."""
        own, material = question.opened.conversation_id, question.material
        if conversation_id == own:
            question.before = changes.summarised(question.before, summary)
        else:
            earlier = (
                changes.summarised(each, summary) if each.conversation_id == conversation_id else each
                for each in material.before.conversations
            )
            material.before = replace(material.before, conversations=tuple(earlier))
        try:
            await self._add(conversation_id, summary)
        except ConversationMCPError as error:
            logger.warning("a summary could not be saved: %s", error.message)
            if conversation_id == own or summary.usage is None:
                return
            # Its conversation is gone; what it cost still counts.
            why = TurnError(code=error.code, message=error.message)
            await self._keep(question, own, summary.model_copy(update={"content": "", "error": why}))

    async def _add(self, conversation_id: str, summary: Summary) -> None:
        await self._store.update(ConversationId(conversation_id), lambda stored, _: changes.summarised(stored, summary))

    async def _composed_again(self, question: _Question, notices: tuple[str, ...]) -> tuple[OpenQuestion, Composition]:
        """Compose the request with the summaries, and write what its answer will say about them."""
        opened, run, first = question.opened, question.opened.turn.run, question.composition
        composition = await self._composer.composed(question.material, question.before, question.choice)
        told = tuple(notice for notice in opened.pending.notices or () if notice not in first.notices)
        pending = opened.pending.model_copy(update={"sent_to": run.sent_to.known, "notices": told})
        pending = changes.composed(pending, composition, notices)
        try:
            await self._store.update(opened.conversation_id, lambda stored, _: changes.asked_again(stored, pending))
        except ConversationMCPError as error:
            logger.warning("the notices of a summary could not be saved: %s", error.message)
        again = open_question(opened.turn, question.before.changed(pending_turn=pending), pending, run.sent_to.newest)
        return again, composition


def _take_back(question: _Question) -> None:
    """Take the model that was to be asked off the recipients, unless it wrote a summary."""
    run, name = question.opened.turn.run, question.choice.provider.name
    if question.writer != name:
        run.sent_to = SentTo(run.sent_to.known, name).without_newest()
