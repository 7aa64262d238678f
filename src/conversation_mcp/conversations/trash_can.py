"""The trash as people see it: what is in it, bringing back, and deleting for good."""

from collections.abc import Sequence

from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Record
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.stores.base import Store, Trashed


class TrashedConversation(Record):
    """A conversation in the trash."""

    conversation_id: str
    """The id that it had, and has again when it is brought back."""
    deleted_at: str
    """When it was moved to the trash."""
    title: str | None = None
    """What it is called; absent when its file cannot be read."""
    message_count: int | None = None
    """All its messages, the system message included."""
    problem: str | None = None
    """Why its file cannot be read."""
    conversation_path: str
    """Where its conversation.json is now."""


class TrashCan:
    """Deleted conversations: shown, brought back, or removed from the folder and from the index for good."""

    def __init__(self, store: Store) -> None:
        self._trash = store.trash
        self._finder = store.finder

    async def entries(self) -> tuple[Trashed, ...]:
        """Return what is in the trash, the latest deletion first."""
        return await self._trash.entries()

    async def facts_of(self, trashed: Trashed) -> TrashedConversation:
        """Return what a person wants to know of it."""
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
        """Bring the conversation back as it was when it was last deleted.

        Raises:
            ConversationNotFoundError: it is not in the trash.
            FilesystemError: there is a conversation with this id already; neither is changed.
        """
        checked = check_id(conversation_id)
        for trashed in await self._trash.entries():
            if trashed.conversation_id == checked:
                await self._trash.restore(trashed)
                return trashed
        raise ConversationNotFoundError(checked, "the trash")

    async def erase(self, trashed: Sequence[Trashed]) -> tuple[str, ...]:
        """Remove conversations for good: their words in the index, then their files and what stands beside them.

        Whatever ends this early leaves the rest in the trash. Return the ids of those whose deletion could not be
        noted, so that an import may bring them back.

        Raises:
            IndexNotErasedError: the index cannot be written; nothing was removed.
            FilesystemError: one cannot be removed.
        """
        if trashed:
            await to_thread.run_sync(self._finder.erase, {each.conversation_id for each in trashed})
        return tuple([each.conversation_id for each in trashed if not await self._trash.remove(each)])
