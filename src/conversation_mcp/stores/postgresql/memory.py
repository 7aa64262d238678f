"""What was read or written last, so that the next turn of a conversation need not read it again."""

from collections import OrderedDict
from threading import Lock

from conversation_mcp.stores.postgresql.rows import Held

MAX_BYTES = 64 * 1024 * 1024
"""Of conversations as files; in memory they take a few times as much."""


class HeldConversations:
    """The latest conversations, by id, up to a limit; the last one is kept whatever its size."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._guard = Lock()
        self._bytes = 0

    def latest(self, conversation_id: str) -> Held | None:
        """Return the conversation as this process knows it, which may be out of date."""
        with self._guard:
            found = self._held.get(conversation_id)
            if found is not None:
                self._held.move_to_end(conversation_id)
            return found

    def get(self, conversation_id: str, slot: int, version: int) -> Held | None:
        """Return the conversation if it is there in that version."""
        found = self.latest(conversation_id)
        return found if found is not None and (found.slot, found.version) == (slot, version) else None

    def keep(self, held: Held) -> None:
        """Keep the conversation, and drop those that were not needed for longest."""
        with self._guard:
            conversation_id = held.conversation.conversation_id
            self._drop(self._held.pop(conversation_id, None))
            self._held[conversation_id] = held
            self._bytes += held.size_bytes
            while self._bytes > MAX_BYTES and len(self._held) > 1:
                self._drop(self._held.popitem(last=False)[1])

    def _drop(self, held: Held | None) -> None:
        if held is not None:
            self._bytes -= held.size_bytes
