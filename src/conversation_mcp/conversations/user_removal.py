"""Deleting everything of a user: each conversation first, then all that is left."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from anyio import to_thread

from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Report, Store


class UserFigures(NamedTuple):
    """How much there is of a user."""

    conversation_count: int
    trashed_count: int
    size_bytes: int
    place: str


class UserConversations(NamedTuple):
    """The conversations that were deleted, and why others could not be."""

    ids: tuple[str, ...]
    problems: tuple[str, ...]


class UserRemoval:
    """Deletes for good, in an order that can be interrupted anywhere and repeated.

    `stop` stops the question that is being answered in a conversation, wherever it runs.
    """

    def __init__(
        self, store: Store, tidier: Tidier, trash: TrashCan, stop: Callable[[ConversationId], Awaitable[object]]
    ) -> None:
        self._store = store
        self._tidier = tidier
        self._trash = trash
        self._stop = stop

    async def figures(self) -> UserFigures:
        """Return how much would be deleted."""
        ids = await to_thread.run_sync(self._store.finder.ids)
        trashed = await self._trash.entries()
        return UserFigures(len(ids), len(trashed), await self._store.size_bytes(), self._store.finder.place)

    async def delete_conversations(self, report: Report) -> UserConversations:
        """Delete all conversations for good, from the index too, after stopping their running questions.

        Raises:
            IndexNotErasedError: the index cannot be written; all of them are in the trash.
            FilesystemError: one cannot be removed; the rest is in the trash.
        """
        problems: list[str] = []
        for conversation_id in await to_thread.run_sync(self._store.finder.ids):
            try:
                await self._delete(conversation_id, report)
            except ConversationNotFoundError:
                continue  # somebody else has deleted it meanwhile
            except ConversationMCPError as error:
                problems.append(error.sentence())
        trashed = await self._trash.entries()
        await self._trash.erase(trashed)
        return UserConversations(tuple(sorted({each.conversation_id for each in trashed})), tuple(problems))

    async def _delete(self, conversation_id: ConversationId, report: Report) -> None:
        if await self._store.turn_is_held(conversation_id):
            try:
                await self._stop(conversation_id)
            except ConversationMCPError as error:
                await report(f"{conversation_id} · its question could not be stopped: {error.message}")
        await self._tidier.delete(conversation_id, report)
