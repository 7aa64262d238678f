"""What the tables need of the conversations that they are derived from."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from conversation_mcp.records.found import Indexed
from conversation_mcp.searching.stamped import UNTRUSTED, Seen


class StampedConversations(Protocol):
    """Conversations with their stamps, which change with them; satisfies Things. A thing is a stamp."""

    def batches(self) -> Iterator[dict[str, int]]:
        """Yield the stamps of all, some at a time."""
        ...

    def by_age(self) -> "StampedConversations":
        """Return the same conversations in the order of their ids."""
        ...

    def stamp(self, thing: int) -> int:
        """Return the stamp itself."""
        ...

    def stamps(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the stamps of those that exist, without reading them."""
        ...

    def is_gone(self, key: str) -> bool:
        """Tell whether the conversation does not exist now."""
        ...

    def read(self, key: str, thing: int = UNTRUSTED) -> Seen[Indexed | str] | None:
        """Return what to index of the conversation, or why it cannot be read; None if there is none."""
        ...

    def text(self, key: str, number: int) -> str:
        """Return the text of a message as it is now, or for 0 those outside of messages; empty if it cannot be read."""
        ...

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether a live process runs a turn on the conversation."""
        ...
