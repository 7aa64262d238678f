"""The turns of conversations in a folder as texts of an index of vectors."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from conversation_mcp.records.found import Indexed
from conversation_mcp.records.turn_texts import describe_turns
from conversation_mcp.searching.vectors.pieces import TextPiece
from conversation_mcp.stores.files.index.stamps import Files
from conversation_mcp.stores.files.vault import Vault
from conversation_mcp.stores.meant_texts import VERSION, turn_pieces


class TurnTexts:
    """The turns by conversation; satisfies TextSource."""

    def __init__(self, folder: Path, now: Callable[[], datetime], vault: Vault) -> None:
        self._files = Files(folder, describe_turns, now, vault)

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the stamp of each conversation."""
        for batch in self._files.batches():
            for conversation_id, stamp in batch.items():
                yield conversation_id, _state(stamp)

    def pieces(self, group: str) -> Sequence[TextPiece]:
        """Return the turns of a conversation in order; none if it cannot be read."""
        seen = self._files.read(group)
        if seen is None or not isinstance(seen.content, Indexed):
            return ()
        return turn_pieces(seen.content.texts)

    def state(self, group: str) -> str | None:
        """Return the stamp of the conversation, None if its file is gone."""
        stamp = self._files.stamps([group]).get(group)
        return None if stamp is None else _state(stamp)


def _state(stamp: int) -> str:
    return f"{VERSION}:{stamp}"
