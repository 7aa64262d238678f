"""A mirror: a folder with the files of each conversation that a store keeps elsewhere, for people who want files.

It is written after each turn and each change beside turns, follows deletions, and is brought up to date when the store
is opened. Only this program writes there; what is edited there is overwritten.
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, Protocol

from anyio import to_thread

from conversation_mcp.cancellation import finish, in_thread
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.attachments import Attachments
from conversation_mcp.stores.base import Change, OnWait, Store, Trash, Trashed, TurnLock
from conversation_mcp.stores.threaded_attachments import WrittenContents

logger = logging.getLogger(__name__)

TRIES = 3
"""Of a file that another process changes meanwhile; the next change or start writes it, too."""


class Mirror(Protocol):
    """The folder of one owner. Every call blocks and raises FilesystemError."""

    @property
    def place(self) -> str:
        """Where it is, for people."""
        ...

    @property
    def contents(self) -> WrittenContents:
        """The contents that questions name, beside the file of their conversation."""
        ...

    def write(self, conversation_id: ConversationId, body: bytes) -> None:
        """Write the file of the conversation, with a time at which nothing was written."""
        ...

    def date(self, conversation_id: ConversationId, milliseconds: int) -> None:
        """Set the time of the file to that at which the conversation was written last, once all of it is there."""
        ...

    def remove(self, conversation_id: ConversationId) -> None:
        """Remove it; harmless if there is none."""
        ...

    def times(self) -> Mapping[ConversationId, int]:
        """Return the times of all files, in milliseconds."""
        ...

    def clear(self) -> None:
        """Remove everything of the owner."""
        ...


class MirroredStore:
    """Satisfies Store: what is not here is that of the store. A mirror that fails is told and stops nothing."""

    def __init__(self, store: Store, mirror: Mirror) -> None:
        self._store = store
        self._mirror = mirror
        self._held: Counter[ConversationId] = Counter()
        self._problem: str | None = None
        self.is_caught_up = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the store has
        return getattr(self._store, name)

    @property
    def attachments(self) -> Attachments:
        """The store's attachments, whose changes beside turns are followed."""
        return _MirroredAttachments(self._store.attachments, self._follow_unless_held)

    @property
    def trash(self) -> Trash:
        """The store's trash, from which conversations come back into the mirror."""
        return _MirroredTrash(self._store.trash, self._follow)

    def trouble(self) -> str | None:
        """Return why the mirror is not up to date, if so."""
        return self._problem and f"the mirror folder is not up to date: {self._problem}"

    async def create(self, conversation: Conversation) -> None:
        """Create it in both places."""
        await self._store.create(conversation)
        await self._follow_unless_held(ConversationId(conversation.conversation_id))

    async def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Update it in both places; during a turn, in the mirror at its end."""
        updated = await self._store.update(conversation_id, change)
        await self._follow_unless_held(conversation_id)
        return updated

    async def acquire_turn(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> TurnLock:
        """Return the lock, whose release writes the mirror before others have a turn."""
        lock = await self._store.acquire_turn(conversation_id, wait_seconds, on_wait)
        self._held[conversation_id] += 1
        return _MirroredTurn(lock, partial(self._end, conversation_id))

    async def remove_all(self) -> None:
        """Remove the owner from both places."""
        await self._store.remove_all()
        await in_thread(self._mirror.clear)

    async def traces(self) -> list[str]:
        """Return what is left in both places."""
        left = await to_thread.run_sync(self._mirror.times)
        return [*await self._store.traces(), *(f"{self._mirror.place}/{each}" for each in left)]

    async def run(self) -> None:
        """Bring the mirror up to date, and do the store's own work."""
        await self._try(self._catch_up)
        self.is_caught_up = True
        await self._store.run()

    async def _end(self, conversation_id: ConversationId) -> None:
        self._held[conversation_id] -= 1
        await self._follow(conversation_id)

    async def _follow_unless_held(self, conversation_id: ConversationId) -> None:
        if not self._held[conversation_id]:
            await self._follow(conversation_id)

    async def _follow(self, conversation_id: ConversationId) -> None:
        await finish(self._try(partial(self._copy, conversation_id)))

    async def _try(self, work: Callable[[], None]) -> None:
        try:
            await to_thread.run_sync(work)
        except ConversationMCPError as error:
            if self._problem is None:
                logger.warning("the mirror cannot be written: %s", error.message)
            self._problem = error.message
        else:
            self._problem = None

    def _copy(self, conversation_id: ConversationId) -> None:
        finder = self._store.finder
        for _ in range(TRIES):
            try:
                body = finder.read(conversation_id)
            except ConversationNotFoundError:
                self._mirror.remove(conversation_id)
                return
            for facts in finder.facts([conversation_id]):
                self._mirror.write(conversation_id, body)
                self._copy_contents(conversation_id)
                self._mirror.date(conversation_id, facts.updated_milliseconds)
                if facts.size_bytes == len(body):
                    return

    def _copy_contents(self, conversation_id: ConversationId) -> None:
        """Write contents that are not there, one in memory at a time, and remove those that are no longer stored."""
        stored, there = self._store.finder.attachments, self._mirror.contents
        wanted, found = stored.sizes(conversation_id), there.sizes(conversation_id)
        if gone := found.keys() - wanted.keys():
            there.remove(conversation_id, gone)
        for name in wanted:
            if found.get(name) != wanted[name] and (content := stored.get(conversation_id, [name])):
                there.put(conversation_id, content)

    def _catch_up(self) -> None:
        """Write what differs by its time, and remove what is no longer stored."""
        there = dict(self._mirror.times())
        ids = self._store.finder.ids()
        for facts in self._store.finder.facts(ids):
            if there.get(conversation_id := ConversationId(facts.conversation_id)) != facts.updated_milliseconds:
                self._copy(conversation_id)
        for conversation_id in there.keys() - set(ids):
            self._copy(conversation_id)


class _MirroredAttachments:
    """Satisfies Attachments."""

    def __init__(self, attachments: Attachments, follow: Callable[[ConversationId], Awaitable[None]]) -> None:
        self._attachments = attachments
        self._follow = follow
        self.get, self.sizes = attachments.get, attachments.sizes

    async def put(self, conversation_id: ConversationId, contents: Mapping[str, bytes]) -> None:
        """Keep them in both places."""
        await self._attachments.put(conversation_id, contents)
        await self._follow(conversation_id)

    async def remove(self, conversation_id: ConversationId, hashes: Collection[str]) -> None:
        """Remove them from both places."""
        await self._attachments.remove(conversation_id, hashes)
        await self._follow(conversation_id)


class _MirroredTrash:
    """Satisfies Trash. What is in the trash is not in the mirror, so removing it there is nothing to the mirror."""

    def __init__(self, trash: Trash, follow: Callable[[ConversationId], Awaitable[None]]) -> None:
        self._follow = follow
        self._restore = trash.restore
        self.put, self.entries, self.load = trash.put, trash.entries, trash.load
        self.contents, self.remove, self.marks = trash.contents, trash.remove, trash.marks

    async def restore(self, trashed: Trashed) -> None:
        """Restore it, in the mirror too."""
        await self._restore(trashed)
        await self._follow(trashed.conversation_id)


class _MirroredTurn:
    def __init__(self, lock: TurnLock, end: Callable[[], Awaitable[None]]) -> None:
        self._lock = lock
        self._end = end
        self._is_held = True

    async def release(self) -> None:
        was_held, self._is_held = self._is_held, False
        try:
            if was_held:
                await self._end()
        finally:
            await self._lock.release()
