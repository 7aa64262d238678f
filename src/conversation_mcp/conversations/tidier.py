"""Putting conversations in order: branches and merges of them, what is said of them, and moving them to the trash."""

from collections.abc import Awaitable, Callable, Sequence

from conversation_mcp.cancellation import finish
from conversation_mcp.conversations.branches import branched
from conversation_mcp.conversations.labels import Retag, with_facts
from conversation_mcp.conversations.merges import dropped_texts, merged
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.base import Report, Store, Trashed


class Tidier:
    """Changes what stands beside the messages. Only a deletion waits for a running turn, up to `lock_wait_seconds`.

    `save` writes an answer of the conversation that could not be written before, and raises when it still cannot be.
    """

    def __init__(
        self, store: Store, save: Callable[[ConversationId], Awaitable[None]], lock_wait_seconds: float
    ) -> None:
        self._store = store
        self._save = save
        self._lock_wait_seconds = lock_wait_seconds

    async def branch(self, conversation_id: str, message_number: int) -> Conversation:
        """Open a conversation with the messages up to that number; the original is only read.

        Raises:
            InvalidInputError: no follow-up would work there; the message names the nearest numbers where one does.
        """
        checked = check_id(conversation_id)
        original = await self._store.load(checked)
        branched(original, message_number, checked)  # a bad number leaves no trace
        return await finish(self._open(lambda new: branched(original, message_number, new)))

    async def merge(self, conversation_ids: Sequence[str]) -> tuple[Conversation, tuple[str, ...]]:
        """Open a conversation with the messages of all of these, and tell what it lacks; the originals are only read.

        Raises:
            InvalidInputError: there are not two different ones.
        """
        checked = [check_id(conversation_id) for conversation_id in conversation_ids]
        originals = [await self._store.load(conversation_id) for conversation_id in checked]
        merged(originals, checked[0])  # what cannot be merged leaves no trace
        return await finish(self._open(lambda new: merged(originals, new))), dropped_texts(originals)

    async def update(
        self,
        conversation_id: str,
        *,
        title: str | None = None,
        retag: Retag | None = None,
        archived: bool | None = None,
    ) -> Conversation:
        """Change what is given; nothing is written where everything is so already.

        Raises:
            InvalidInputError: the title or the tags cannot be taken.
        """
        checked = check_id(conversation_id)
        stored = await self._store.load(checked)
        if with_facts(stored, title, retag, archived) == stored:
            return stored
        return await self._store.update(checked, lambda now, _: with_facts(now, title, retag, archived))

    async def delete(
        self,
        conversation_id: str,
        report: Report,
        *,
        wait_seconds: float | None = None,
        check: Callable[[Conversation], None] | None = None,
    ) -> Trashed:
        """Move the conversation to the trash, a damaged one too, when no turn runs on it any more.

        `check` gets the conversation as it then is; what it raises ends the deletion.

        Raises:
            ConversationBusyError: a turn has been running for too long.
        """
        checked = check_id(conversation_id)

        async def on_wait(waited_seconds: float) -> None:
            await report(f"{checked} · waiting for its running question, {waited_seconds:.0f} s")

        wait_seconds = self._lock_wait_seconds if wait_seconds is None else wait_seconds
        lock = await self._store.acquire_turn(checked, wait_seconds, on_wait)
        try:
            await self._save(checked)
            if check:
                check(await self._store.load(checked))
            return await self._store.trash.put(checked)
        finally:
            await lock.release()

    async def _open(self, begun: Callable[[ConversationId], Conversation]) -> Conversation:
        conversation_id = await self._store.reserve()
        await self._store.create(begun(conversation_id))
        return await self._store.load(conversation_id)
