"""The decisions of a conversation that has ended, proposed as memories by the model that the settings name."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import NamedTuple

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from conversation_mcp.cancellation import finish
from conversation_mcp.conversations.memories import ID_BYTES, MAX_MEMORIES
from conversation_mcp.conversations.recipients import whereabouts_of
from conversation_mcp.errors import ContextTooLargeError, ConversationMCPError, ProviderError, ProviderUnavailableError
from conversation_mcp.prompting.budget import Shares, budget_of
from conversation_mcp.prompting.decisions import DecisionRequest, ProposedDecision, decision_request, read_decisions
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.transcript import Said, said_in
from conversation_mcp.providers.base import Answer
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.whereabouts import Side, Whereabouts
from conversation_mcp.records.found import WantedMemories
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.records.side_calls import Extraction, TurnError
from conversation_mcp.records.usage import Usage
from conversation_mcp.stores.base import Store
from conversation_mcp.text import counted, dollars, storable
from conversation_mcp.turns.aside import ask_aside
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.disclosure import sharing_notices
from conversation_mcp.turns.owner_limits import OwnerLimits
from conversation_mcp.turns.provider_calls import ProviderCall

TAG = "decision"
UNFINISHED = TurnError(code="INTERRUPTED", message="The server ended before the answer came.")
STILL_LOOKING = "the decisions are still being looked for; list_memories or a search for the tag decision shows them"


class FoundDecisions(NamedTuple):
    """The decisions that were kept as memories, and what a reader must know."""

    memories: tuple[Memory, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass
class _Looking:
    """A search for decisions that has been sent, as `ask_aside` needs it."""

    writer: Choice
    whereabouts: Whereabouts
    passed_on: Callable[[str, Side], Awaitable[None]]
    is_stopped: Callable[[], bool] = lambda: False
    calls: list[ProviderCall] = field(default_factory=list[ProviderCall])


class _WantedDecisions:
    """A search for decisions that is running."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.found = FoundDecisions()


class Decisions:
    """Looks for decisions. A call belongs to the program and not to whoever waits for it, as that of a summary."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        load_prompt: Callable[[], str],
        shares: Shares,
        clean: Callable[[str], str],
        daily_limit: DailyLimit,
        owner_limits: OwnerLimits,
        model: str,
        lock_wait_seconds: float,
        now: Callable[[], datetime],
        tasks: TaskGroup,
        busy: set[str],
        has_texts: Callable[[], Awaitable[None]],
    ) -> None:
        """Make it; `clean` redacts what is sent and what comes, `has_texts` is called when there are new memories."""
        self._store = store
        self._providers = providers
        self._load_prompt = load_prompt
        self._shares = shares
        self._clean = clean
        self._daily_limit = daily_limit
        self._owner_limits = owner_limits
        self._model = model
        self._lock_wait_seconds = lock_wait_seconds
        self._now = now
        self._tasks = tasks
        self._busy = busy
        self._has_texts = has_texts
        self._measure = Measure()
        self._running: dict[ConversationId, _WantedDecisions] = {}

    async def propose(self, conversation_id: str, wait_seconds: float) -> FoundDecisions:
        """Keep the decisions in what was said since they were looked for last; that none can be found is a notice."""
        checked = check_id(conversation_id)
        if (wanted := self._running.get(checked)) is None:
            wanted = self._running[checked] = _WantedDecisions()
            self._busy.add(checked)
            self._tasks.start_soon(self._run, checked, wanted)
        with anyio.move_on_after(wait_seconds):
            await wanted.ended.wait()
        return wanted.found if wanted.ended.is_set() else FoundDecisions(notices=(STILL_LOOKING,))

    async def _run(self, conversation_id: ConversationId, wanted: _WantedDecisions) -> None:
        try:
            lock = await self._store.acquire_turn(conversation_id, self._lock_wait_seconds, _wait)
            try:
                wanted.found = await self._looked(conversation_id)
            finally:
                with anyio.CancelScope(shield=True):
                    await lock.release()
        except ConversationMCPError as error:
            wanted.found = FoundDecisions(notices=(f"no decisions were kept: {error.message.rstrip('.')}",))
        finally:
            del self._running[conversation_id]
            self._busy.discard(conversation_id)
            wanted.ended.set()

    async def _looked(self, conversation_id: ConversationId) -> FoundDecisions:
        stored = await self._store.load(conversation_id)
        if not (said := _left_to_look_at(stored)):
            return FoundDecisions()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._owner_limits.admitted(opens=False))
            return await self._sent(stored, said)

    async def _sent(self, stored: Conversation, said: tuple[Said, ...]) -> FoundDecisions:
        await self._daily_limit.check()
        sides = self._providers.sides
        choice = await self._providers.choose("chat", self._model, whereabouts=whereabouts_of(stored, sides))
        may_leave = choice.is_named_by(self._model) or self._providers.shares_always
        shared = sharing_notices(stored, choice, sides, may_leave=may_leave)
        instructions = await to_thread.run_sync(self._load_prompt)
        limit = budget_of(choice.facts, self._shares).input_tokens
        request = decision_request(instructions, said, limit, self._measure)
        if request is None:
            raise ContextTooLargeError(f"no message fits into the window of {choice.shown}")
        more = len(said) - len(request.said)
        early = f"the {counted(more, 'message')} before message {request.said[0].number} did not fit"
        found = await self._asked(stored, choice, request)
        return found._replace(notices=(*shared, *((early,) if more else ()), *found.notices))

    async def _asked(self, stored: Conversation, choice: Choice, request: DecisionRequest) -> FoundDecisions:
        conversation_id = ConversationId(stored.conversation_id)
        sent_to: dict[str, Side] = {choice.provider.name: choice.side}
        begun = Extraction.of(
            last_message=request.said[-1].number,
            created_at=iso(self._now()),
            provider=choice.provider.name,
            model=choice.name,
            sent_to=dict(sent_to),
            error=UNFINISHED,
        )
        # Before anything is sent, so that the file knows who may have the words, whatever happens.
        await self._store.update(conversation_id, partial(_with_extraction, begun, ()))

        async def passed_on(name: str, side: Side) -> None:
            sent_to[name] = side
            told = begun.model_copy(update={"sent_to": dict(sent_to)})
            await self._store.update(conversation_id, partial(_with_extraction, told, ()))

        looking = _Looking(choice, whereabouts_of(stored, self._providers.sides), passed_on)
        try:
            answer = await ask_aside(looking, request.messages, request.tokens, self._clean)
        except ProviderError as error:
            usage = Usage.model_validate(dict(error.usage)) if error.usage else None
            ended = _ended(begun, sent_to, usage, TurnError(code=error.code, message=storable(error.message)))
            keeps = error.was_sent or usage is not None
            change = partial(_with_extraction, ended, ()) if keeps else partial(_without_extraction, begun)
            await self._store.update(conversation_id, change)
            raise
        ended = _ended(begun, sent_to, answer.usage)
        return await finish(self._kept(conversation_id, choice, request, ended, answer))  # it is paid for

    async def _kept(
        self,
        conversation_id: ConversationId,
        choice: Choice,
        request: DecisionRequest,
        extraction: Extraction,
        answer: Answer,
    ) -> FoundDecisions:
        read = await to_thread.run_sync(read_decisions, answer.content, request.said, self._clean)
        if read.is_unreadable or (read.refused_count and not read.found):
            why = "what it proposes is not what was said" if read.refused_count else "it is not the JSON asked for"
            refused = ProviderUnavailableError(f"the answer of {choice.shown} was refused, because {why}.")
            error = TurnError(code=refused.code, message=refused.message)
            told = extraction.model_copy(update={"error": error})
            await self._store.update(conversation_id, partial(_with_extraction, told, ()))
            raise refused
        known = await self._known(read.found)
        memories = tuple(self._memory(each, choice) for each in read.found if same_text(each.text) not in known)
        after = await self._store.update(conversation_id, partial(_with_extraction, extraction, memories))
        await to_thread.run_sync(self._store.finder.take_in_written)
        await self._has_texts()
        there = {memory.id for memory in after.memories or ()}
        kept = tuple(memory for memory in memories if memory.id in there)
        return FoundDecisions(kept, tuple(_notices(choice, read.refused_count, len(read.found), len(kept), answer)))

    async def _known(self, found: Iterable[ProposedDecision]) -> set[str]:
        """Return the hashes of those texts that are memories already."""
        texts = tuple(same_text(each.text) for each in found)
        if not texts:
            return set()
        look_up = partial(self._store.finder.memories, WantedMemories(same_texts=texts), len(texts))
        page = await to_thread.run_sync(look_up)
        return {same_text(each.memory.content) for each in page.found}

    def _memory(self, decision: ProposedDecision, choice: Choice) -> Memory:
        return Memory.of(
            memory_id=f"mem-{token_hex(ID_BYTES)}",
            content=decision.text,
            created_at=iso(self._now()),
            tags=(TAG,),
            message_number=decision.message_number,
            provider=choice.provider.name,
            model=choice.name,
        )


def _left_to_look_at(stored: Conversation) -> tuple[Said, ...]:
    """Return what was said since the last search that succeeded."""
    looked = max((each.last_message for each in stored.extractions or () if each.error is None), default=0)
    return tuple(one for one in said_in((stored,)) if one.number > looked and one.text.strip())


def _ended(
    begun: Extraction, sent_to: Mapping[str, Side], usage: Usage | None, error: TurnError | None = None
) -> Extraction:
    facts = {name: fact for name, fact in begun if name != "error"}
    return Extraction.of(**{**facts, "sent_to": dict(sent_to), "usage": usage, "error": error})


def _without_extraction(begun: Extraction, stored: Conversation, _: str = "") -> Conversation:
    """Return the conversation without what stood for the call while it was made."""
    left = tuple(one for one in stored.extractions or () if one.created_at != begun.created_at)
    return stored.changed(extractions=left or None)


def _with_extraction(
    extraction: Extraction, memories: tuple[Memory, ...], stored: Conversation, _: str
) -> Conversation:
    """Return the conversation with the call, in place of what stood for it, and with what it found."""
    earlier = _without_extraction(extraction, stored).extractions or ()
    kept = stored.memories or ()
    new = memories[: max(0, MAX_MEMORIES - len(kept))]
    return stored.changed(extractions=(*earlier, extraction), memories=(*kept, *new) or None)


def _notices(choice: Choice, refused: int, found: int, kept: int, answer: Answer) -> Iterable[str]:
    cost = dollars(answer.usage.cost_usd) if answer.usage else ""
    yield f"{choice.shown} proposed {counted(found, 'decision')}{f' for {cost}' if cost else ''}"
    if refused:
        yield f"{counted(refused, 'proposal')} more left out, because the messages do not say so"
    if kept < found:
        yield f"{found - kept:,} of them were known already, or too many"


async def _wait(_seconds: float) -> None:
    """Report to nobody."""
