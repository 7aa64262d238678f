"""The trash as people use it: listing, restoring, and deleting for good."""

from collections.abc import Sequence

from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.record import Record
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.stores.base import Store, Trashed


class TrashedConversation(Record):
    """A conversation in the trash."""

    conversation_id: str
    """Its id, which it keeps when it is restored."""
    deleted_at: str
    """When it was moved to the trash."""
    title: str | None = None
    """Its title; absent if its file cannot be read."""
    message_count: int | None = None
    """All its messages, the system message included."""
    problem: str | None = None
    """Why its file cannot be read."""
    conversation_path: str
    """Where its conversation.json is now."""


class TrashCan:
    """Lists deleted conversations, restores them, or removes them from store and index for good."""

    def __init__(self, store: Store) -> None:
        self._trash = store.trash
        self._finder = store.finder

    async def entries(self) -> tuple[Trashed, ...]:
        """Return the contents of the trash, the latest deletion first."""
        return await self._trash.entries()

    async def facts_of(self, trashed: Trashed) -> TrashedConversation:
        """Return the facts of an entry that are shown to people."""
        known: dict[str, object] = {}
        try:
            conversation = await self._trash.load(trashed)
            known = {"title": title_of_conversation(conversation), "message_count": len(conversation.messages)}
        except ConversationMCPError as error:
            known = {"problem": error.message}
        return TrashedConversation.of(
            conversation_id=trashed.conversation_id,
            deleted_at=trashed.deleted_at,
            conversation_path=trashed.location,
            **known,
        )

    async def restore(self, conversation_id: str) -> Trashed:
        """Restore the conversation as it was when it was last deleted.

        Raises:
            ConversationNotFoundError: it is not in the trash.
            FilesystemError: a conversation with this id exists already; neither is changed.
        """
        checked = check_id(conversation_id)
        for trashed in await self._trash.entries():
            if trashed.conversation_id == checked:
                await self._trash.restore(trashed)
                return trashed
        raise ConversationNotFoundError(checked, "the trash")

    async def erase(self, trashed: Sequence[Trashed]) -> tuple[str, ...]:
        """Remove conversations for good: their words in the index, then their files and everything kept with them.

        If it ends early, the rest stays in the trash. Return the ids whose deletion could not be recorded, so that an
        import may bring them back.

        Raises:
            IndexNotErasedError: the index cannot be written; nothing was removed.
            FilesystemError: one cannot be removed.
        """
        if trashed:  # the index first: while the files exist, an interrupted erasure can be repeated
            await to_thread.run_sync(self._finder.erase, {each.conversation_id for each in trashed})
        return tuple([each.conversation_id for each in trashed if not await self._trash.remove(each)])
