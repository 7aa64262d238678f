"""Retention: conversations that were not touched for an age are deleted for good, by a command or by a server."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import anyio
from anyio import to_thread

from conversation_mcp.cancellation import tasks_beside
from conversation_mcp.conversations.pruner import START_AFTER_SECONDS, PrunePlan, Pruner
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.ages import age_of
from conversation_mcp.records.models import ConversationId, parse_time
from conversation_mcp.stores.base import Store, Trashed

EVERY_SECONDS = 3600.0

logger = logging.getLogger(__name__)


class Old(NamedTuple):
    """What is too old: conversations, and what was put into the trash so long ago."""

    plan: PrunePlan
    trashed: tuple[Trashed, ...]

    def ids(self) -> list[str]:
        """Return the ids of all, each once."""
        listed = [facts.conversation_id for _, facts in self.plan.old]
        return list(dict.fromkeys((*listed, *(each.conversation_id for each in self.trashed))))


class Deleted(NamedTuple):
    """What was deleted, and why other conversations were not."""

    ids: list[str]
    problems: list[str]


class OldConversations:
    """Finds what is old, and deletes what still is; what has tags or a question without an answer is kept."""

    def __init__(self, pruner: Pruner, trash: TrashCan, now: Callable[[], datetime]) -> None:
        self._pruner = pruner
        self._trash = trash
        self._now = now

    async def look(self, age: timedelta) -> Old:
        """Return what was not touched for that long."""
        before = self._now() - age
        trashed = tuple(each for each in await self._trash.entries() if parse_time(each.deleted_at) < before)
        return Old(await self._pruner.plan({"trash": age}), trashed)

    async def delete(self, old: Old) -> Deleted:
        """Delete what is still old.

        Raises:
            IndexNotErasedError: the index cannot be written; what was to be deleted is in the trash.
            FilesystemError: one cannot be removed; the rest is in the trash.
        """
        problems: list[str] = []
        moved: set[str] = set()
        async for pruned in self._pruner.carry_out(old.plan):
            if pruned.problem:
                problems.append(pruned.problem)
            elif not pruned.is_kept:
                moved.add(pruned.facts.conversation_id)
        chosen = [each for each in await self._trash.entries() if each.conversation_id in moved or each in old.trashed]
        await self._trash.erase(chosen)
        return Deleted(list(dict.fromkeys(each.conversation_id for each in chosen)), problems)


class RetentionSweep:
    """Deletes for all owners of a store what is older than their age, shortly after the start and then every hour.

    Any number of processes may do it at once: a conversation is deleted under its lock, by whoever comes first.
    """

    def __init__(
        self,
        ages: Callable[[], Mapping[str, str]],
        open_store: Callable[[str], Store],
        note: Callable[[str, str, Sequence[str]], object],
        now: Callable[[], datetime],
    ) -> None:
        """Prepare the sweep.

        Args:
            ages: returns the ages by owner; blocks.
            open_store: opens the store of an owner; blocks.
            note: notes owner, age and ids before they are deleted; blocks, and raises if it cannot.
            now: the clock.
        """
        self._ages = ages
        self._open_store = open_store
        self._note = note
        self._now = now

    async def run(self, rest: Callable[[float], Awaitable[object]] = anyio.sleep) -> None:
        """Sweep until cancelled."""
        await rest(START_AFTER_SECONDS)
        while True:
            await self.sweep()
            await rest(EVERY_SECONDS)

    async def sweep(self) -> None:
        """Sweep once, one owner after the other; what fails is only logged."""
        try:
            ages = await to_thread.run_sync(self._ages)
        except ConversationMCPError as error:
            logger.warning("old conversations are not deleted: %s", error.message)
            return
        for owner, age in ages.items():
            try:
                await self._sweep(owner, age)
            except ConversationMCPError as error:
                logger.warning("old conversations of %s are not deleted: %s", owner, error.message)
            except Exception:
                logger.exception("old conversations of %s are not deleted", owner)

    async def _sweep(self, owner: str, age: str) -> None:
        duration = age_of(age)
        if duration is None:
            logger.warning("old conversations of %s are not deleted: %r is no age such as 90d", owner, age)
            return
        store = await to_thread.run_sync(self._open_store, owner)
        async with tasks_beside() as tasks:
            tasks.start_soon(store.run)
            await self._delete(store, owner, age, duration)

    async def _delete(self, store: Store, owner: str, age: str, duration: timedelta) -> None:
        conversations = OldConversations(Pruner(store, Tidier(store, _saved, 0), self._now), TrashCan(store), self._now)
        old = await conversations.look(duration)
        for problem in old.plan.problems:
            logger.warning("a conversation of %s is kept, however old it is: %s", owner, problem)
        if not old.ids():
            return
        await to_thread.run_sync(self._note, owner, age, old.ids())
        deleted = await conversations.delete(old)
        for problem in deleted.problems:
            logger.warning("an old conversation of %s is not deleted: %s", owner, problem)
        logger.info("deleted for good after %s: %d conversations of %s", age, len(deleted.ids), owner)


async def _saved(_: ConversationId) -> None:
    """Do nothing: a conversation whose answer is in no file has an open question, and is kept for that."""
