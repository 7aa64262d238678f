"""The memories that the index knows as texts of an index of vectors."""

from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from conversation_mcp.records.found import MemoryFacts
from conversation_mcp.records.memory_facts import remembered
from conversation_mcp.searching.cache import Work
from conversation_mcp.searching.vectors.pieces import GivenVector, PiecePart, TextPiece

VERSION = "1"
"""Begins the state of every memory: a change of what is embedded makes the vectors anew."""
CHUNK_CHARS = 1_000
"""About as much as small models read; what is longer becomes several pieces."""
GIVEN = "given"
"""The item of a vector that was given."""
TEXTS = "SELECT same, max(embedding) FROM memories GROUP BY same"
TEXT = "SELECT embedding, facts FROM memories WHERE same = ? ORDER BY embedding DESC LIMIT 1"


class MemoryTexts:
    """The texts by their hash; satisfies TextSource.

    Another text is another group, so that the vector of a text that was changed or forgotten has no place to stay, and
    what several conversations have is embedded once.
    """

    def __init__(self, ask: Callable[[Work[Any]], Any]) -> None:
        self._ask = ask

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the hash of each text, and the state, which changes with a vector that is given."""
        for same, embedding in self._ask(lambda database: database.execute(TEXTS).fetchall()):
            yield same, _state(embedding)

    def pieces(self, group: str) -> Sequence[TextPiece]:
        """Return a vector that is given and the parts of the text in order; none if no memory has it any more."""
        row = self._row(group)
        return pieces_of(remembered(row[1])) if row else ()

    def state(self, group: str) -> str | None:
        """Return the state of the text, None if no memory has it."""
        row = self._row(group)
        return _state(row[0]) if row else None

    def _row(self, same: str) -> tuple[str | None, str] | None:
        return self._ask(lambda database: database.execute(TEXT, (same,)).fetchone())


def pieces_of(memory: MemoryFacts) -> list[TextPiece]:
    """Return the vector that was given with a memory, if one was, and the parts of its text in order."""
    starts = range(0, len(memory.content), CHUNK_CHARS)
    parts = [
        TextPiece(str(part), (PiecePart(memory.content[at : at + CHUNK_CHARS]),)) for part, at in enumerate(starts)
    ]
    if (embedding := memory.embedding) is None:
        return parts
    with suppress(ValueError):
        numbers = b64decode(embedding["vector"], validate=True)
        return [TextPiece(GIVEN, (), GivenVector(embedding["model"], numbers)), *parts]
    return parts


def _state(embedding: str | None) -> str:
    return f"{VERSION} {embedding}" if embedding else VERSION
