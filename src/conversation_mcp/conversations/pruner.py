"""Pruning: conversations that were not touched for long are archived or moved to the trash."""

import logging
import math
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

import anyio
from anyio import to_thread

from conversation_mcp.conversations.labels import with_facts
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.errors import ConversationBusyError, ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.records.found import Listed, Place, State, Wanted
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.stores.base import Store, silent
from conversation_mcp.stores.finder import PAGE

Action = Literal["trash", "archive"]

STEPS: tuple[tuple[Action, State | None], ...] = (("trash", None), ("trash", "archived"), ("archive", None))
START_AFTER_SECONDS = 5.0
"""Keeps pruning out of the start, when a client waits for the first answers."""

logger = logging.getLogger(__name__)


class PrunePlan(NamedTuple):
    """The conversations that are old enough for each action; those with tags or a pending question are kept."""

    old: tuple[tuple[Action, Listed], ...]
    kept_count: int
    unreadable_count: int
    problems: tuple[str, ...]
    """Why the first few of the unreadable ones cannot be read."""
    before_milliseconds: Mapping[Action, int]
    """Conversations last updated before these times are old."""


class Pruned(NamedTuple):
    """The result for one conversation: done, failed with a problem, or kept because it has changed meanwhile."""

    action: Action
    facts: Listed
    is_kept: bool = False
    problem: str | None = None


class Pruner:
    """Finds old conversations in the index, and checks each file again before changing it."""

    def __init__(self, store: Store, tidier: Tidier, now: Callable[[], datetime]) -> None:
        self._store = store
        self._tidier = tidier
        self._now = now

    async def plan(self, ages: Mapping[Action, timedelta]) -> PrunePlan:
        """Return what is to be done at these ages; a conversation that goes to the trash is not archived first.

        Raises:
            FilesystemError: the folder cannot be read.
        """
        await self._store.freshen(math.inf, silent)
        now = milliseconds_of(iso(self._now()))
        before: dict[Action, int] = {}
        for action, age in ages.items():
            before[action] = now - age // timedelta(milliseconds=1)
        return await to_thread.run_sync(self._plan, before)

    async def carry_out(self, plan: PrunePlan) -> AsyncGenerator[Pruned]:
        """Carry out the plan, one conversation after the other, and yield the result of each."""
        for action, facts in plan.old:
            try:
                await self._prune(action, ConversationId(facts.conversation_id), plan.before_milliseconds[action])
            except (_KeptError, ConversationBusyError, ConversationNotFoundError):
                yield Pruned(action, facts, is_kept=True)
            except ConversationMCPError as error:
                yield Pruned(action, facts, problem=error.sentence())
            else:
                yield Pruned(action, facts)

    async def archive_idle(self, age: timedelta) -> None:
        """Archive conversations of that age, once, shortly after the start; nobody waits for it."""
        await anyio.sleep(START_AFTER_SECONDS)
        try:
            async for pruned in self.carry_out(await self.plan({"archive": age})):
                if not pruned.is_kept:
                    logger.info("%s %s", pruned.facts.conversation_id, pruned.problem or "was idle and is archived")
        except ConversationMCPError as error:
            logger.info("idle conversations are not archived: %s", error.message)
        except Exception:
            logger.exception("idle conversations are not archived")

    def _plan(self, before: Mapping[Action, int]) -> PrunePlan:
        old: dict[str, tuple[Action, Listed]] = {}
        kept: set[str] = set()
        for action, state in STEPS:
            if action in before:
                for facts in self._walk(Wanted(state=state, before_milliseconds=before[action])):
                    if facts.tags or facts.pending:
                        kept.add(facts.conversation_id)
                    else:
                        old.setdefault(facts.conversation_id, (action, facts))
        page = self._store.finder.page(Wanted(), 1)
        return PrunePlan(tuple(old.values()), len(kept), page.unreadable_count, page.problems, before)

    def _walk(self, wanted: Wanted) -> Iterator[Listed]:
        place: Place | None = None
        while True:
            page = self._store.finder.page(wanted, PAGE, place)
            yield from page.found
            if (place := page.next) is None:
                return

    async def _prune(self, action: Action, conversation_id: ConversationId, before_milliseconds: int) -> None:
        # Called under the lock: the conversation may have been used since the plan was made.
        def check(conversation: Conversation) -> None:
            is_old = milliseconds_of(conversation.updated_at) < before_milliseconds
            if not is_old or conversation.tags or conversation.pending_turn:
                raise _KeptError

        def archive(conversation: Conversation, _now: str) -> Conversation:
            check(conversation)
            return with_facts(conversation, archived=True)

        if action == "trash":
            # Not waited for: a conversation with a running question is in use, and so is kept.
            await self._tidier.delete(conversation_id, silent, wait_seconds=0, check=check)
        else:
            await self._store.update(conversation_id, archive)


class _KeptError(Exception):
    """The conversation has changed since it was found to be old."""
