"""The turns of conversations in a folder as texts of an index of vectors."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from conversation_mcp.records.found import Indexed
from conversation_mcp.records.turn_texts import describe_turns
from conversation_mcp.searching.vectors.pieces import PiecePart, TextPiece
from conversation_mcp.stores.files.index.stamps import Files
from conversation_mcp.stores.files.vault import Vault

VERSION = "1"
"""Part of the state of every conversation: a change of what is embedded makes the vectors anew."""
CHUNK_CHARS = 1_000
"""About as much as small models read; what is longer becomes several pieces."""
CHUNKS = 8
"""The most pieces of a turn."""
QUESTION_CHARS = 200
PREVIOUS, FOLLOWING = 0.4, 0.2
"""How much the turns around a turn count in its vector, as measured."""


class TurnTexts:
    """The turns by conversation; satisfies TextSource. An item is a message number and a chunk: `3.0`."""

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
        turns = [(number, _chunks(text)) for number, text in seen.content.texts.items()]
        return [
            TextPiece(f"{number}.{part}", (PiecePart(chunk), *_around(turns, place)))
            for place, (number, chunks) in enumerate(turns)
            for part, chunk in enumerate(chunks)
        ]

    def state(self, group: str) -> str | None:
        """Return the stamp of the conversation, None if its file is gone."""
        stamp = self._files.stamps([group]).get(group)
        return None if stamp is None else _state(stamp)


def _state(stamp: int) -> str:
    return f"{VERSION}:{stamp}"


def _around(turns: Sequence[tuple[int, Sequence[str]]], place: int) -> Iterator[PiecePart]:
    if place:
        yield PiecePart(turns[place - 1][1][0], PREVIOUS)
    if place + 1 < len(turns):
        yield PiecePart(turns[place + 1][1][0], FOLLOWING)


def _chunks(text: str) -> list[str]:
    """Cut a turn; each chunk after the first begins with the question again, without which it says little."""
    first, rest = text[:CHUNK_CHARS], text[CHUNK_CHARS:]
    question = text.partition("\n")[0][:QUESTION_CHARS]
    starts = range(0, len(rest), CHUNK_CHARS)[: CHUNKS - 1]
    return [first, *(f"{question}\n{rest[start : start + CHUNK_CHARS]}" for start in starts)]
