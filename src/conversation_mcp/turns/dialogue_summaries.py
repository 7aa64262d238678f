"""Summaries that somebody asks for, of the first messages of a chatbot's log."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from typing import NamedTuple

import anyio
from anyio.abc import TaskGroup

from conversation_mcp.conversations.dialogue_pages import left_to_summarise
from conversation_mcp.conversations.recipients import whereabouts_of
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.summaries import NeededSummary, newest_summary
from conversation_mcp.prompting.transcript import Said
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.whereabouts import Side
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId, Summary, TurnError, iso
from conversation_mcp.sources import variable_of
from conversation_mcp.stores.base import Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.disclosure import sharing_notices
from conversation_mcp.turns.owner_limits import OwnerLimits
from conversation_mcp.turns.summary_writer import SummaryWriter, Writing

UNFINISHED = TurnError(code="INTERRUPTED", message="The server ended before the summary came.")


class Summarised(NamedTuple):
    """What became of a summary that somebody asked for."""

    conversation: Conversation
    summary: Summary | None
    """The summary; None if there is nothing to summarise."""
    is_new: bool = False
    notices: tuple[str, ...] = ()


class _WantedSummary:
    """A summary that is being written."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.done: Summarised | None = None
        self.error: ConversationMCPError | None = None


class DialogueSummaries:
    """Has summaries written by the model that the settings name; None that nobody writes any.

    A call belongs to the program and not to whoever waits for it: it is paid for, and so it is kept.
    """

    def __init__(
        self,
        store: Store,
        providers: Providers,
        writer: SummaryWriter,
        daily_limit: DailyLimit,
        owner_limits: OwnerLimits,
        model: str | None,
        lock_wait_seconds: float,
        now: Callable[[], datetime],
        tasks: TaskGroup,
        busy: set[str],
    ) -> None:
        self._store = store
        self._providers = providers
        self._writer = writer
        self._daily_limit = daily_limit
        self._owner_limits = owner_limits
        self._model = model
        self._lock_wait_seconds = lock_wait_seconds
        self._now = now
        self._tasks = tasks
        self._measure = Measure()
        self._busy = busy
        self._running: dict[ConversationId, _WantedSummary] = {}

    async def summarise(self, conversation_id: str, max_tokens: int | None, wait_seconds: float) -> Summarised | None:
        """Return a summary of all turns but the newest that fit beside it into so many tokens; None while it is made.

        Without a limit, only the newest turn is left out of it. One that is there already is returned as it is, and a
        call while one is being written waits for that.

        Raises:
            InvalidInputError: no model is named that writes summaries.
            WordsStayError: the words would leave this machine, and the setting does not name who gets them.
            ConversationMCPError: no summary came.
        """
        checked = check_id(conversation_id)
        if self._model is None:
            raise InvalidInputError(
                f"no summaries are written here: {variable_of('summaries')} names no model. Set it to one, as in "
                f"{variable_of('default_model')}."
            )
        if (wanted := self._running.get(checked)) is None:
            wanted = self._running[checked] = _WantedSummary()
            self._busy.add(checked)
            self._tasks.start_soon(self._run, checked, max_tokens, self._model, wanted)
        with anyio.move_on_after(wait_seconds):
            await wanted.ended.wait()
        if wanted.error is not None:
            raise wanted.error
        return wanted.done

    async def _run(
        self, conversation_id: ConversationId, max_tokens: int | None, model: str, wanted: _WantedSummary
    ) -> None:
        try:
            lock = await self._store.acquire_turn(conversation_id, self._lock_wait_seconds, _wait)
            try:
                wanted.done = await self._summarised(conversation_id, max_tokens, model)
            finally:
                with anyio.CancelScope(shield=True):
                    await lock.release()
        except ConversationMCPError as error:
            wanted.error = error
        finally:
            del self._running[conversation_id]
            self._busy.discard(conversation_id)
            wanted.ended.set()

    async def _summarised(self, conversation_id: ConversationId, max_tokens: int | None, model: str) -> Summarised:
        stored = await self._store.load(conversation_id)
        said, most_tokens = left_to_summarise(stored, max_tokens, self._measure)
        if not said:
            return Summarised(stored, None)
        known = newest_summary(stored, said[-1].number)
        if known is not None and known.last_message == said[-1].number:
            return Summarised(stored, known)
        needed = NeededSummary(conversation_id, said[-1].number, known, most_tokens)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._owner_limits.admitted(opens=False))
            return await self._written(stored, needed, said, model)

    async def _written(
        self, stored: Conversation, needed: NeededSummary, said: tuple[Said, ...], model: str
    ) -> Summarised:
        await self._daily_limit.check()
        choice, shared = await self._chosen(stored, model)
        conversation_id = ConversationId(stored.conversation_id)
        sent_to: dict[str, Side] = {choice.provider.name: choice.side}
        begun = _begun(needed, choice, sent_to, iso(self._now()))
        # Before anything is sent, so that the file knows who may have the words, whatever happens.
        await self._store.update(conversation_id, lambda now, _: changes.summarised(now, begun))

        async def keep(_conversation_id: str, summary: Summary) -> None:
            told = summary.model_copy(update={"sent_to": dict(sent_to)})
            with anyio.CancelScope(shield=True):  # it is paid for
                await self._store.update(conversation_id, lambda now, _: changes.summarised(_without(now, begun), told))

        async def passed_on(name: str, side: Side) -> None:
            sent_to[name] = side
            more = begun.model_copy(update={"sent_to": dict(sent_to)})
            await self._store.update(conversation_id, lambda now, _: changes.summarised(_without(now, begun), more))

        known = whereabouts_of(stored, self._providers.sides)
        created_at = begun.created_at or ""
        writing = Writing(conversation_id, choice, known, lambda: created_at, keep, self._daily_limit.check, passed_on)
        try:
            notice = await self._writer.require(writing, needed, said)
        except ConversationMCPError:
            if not writing.was_sent:
                await self._store.update(conversation_id, lambda now, _: _without(now, begun))
            raise
        after = await self._store.load(conversation_id)
        return Summarised(after, newest_summary(after, needed.last_message), is_new=True, notices=(*shared, notice))

    async def _chosen(self, stored: Conversation, model: str) -> tuple[Choice, tuple[str, ...]]:
        """Return who writes, and the notices about a new recipient."""
        sides = self._providers.sides
        choice = await self._providers.choose("chat", model, whereabouts=whereabouts_of(stored, sides))
        may_leave = choice.is_named_by(model) or self._providers.shares_always
        return choice, sharing_notices(stored, choice, sides, may_leave=may_leave)


def _begun(needed: NeededSummary, choice: Choice, sent_to: dict[str, Side], created_at: str) -> Summary:
    return Summary.of(
        content="",
        first_message=needed.known.first_message if needed.known else 1,
        last_message=needed.last_message,
        created_at=created_at,
        provider=choice.provider.name,
        model=choice.name,
        sent_to=dict(sent_to),
        error=UNFINISHED,
    )


def _without(conversation: Conversation, begun: Summary) -> Conversation:
    """Return the conversation without what stood for the summary while it was written."""
    left = tuple(
        one for one in conversation.summaries or () if (one.created_at, one.error) != (begun.created_at, begun.error)
    )
    return conversation.changed(summaries=left or None)


async def _wait(_seconds: float) -> None:
    """Report to nobody."""
