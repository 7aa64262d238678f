"""The memories that the index knows as texts of an index of vectors."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from conversation_mcp.records.memory_facts import remembered
from conversation_mcp.searching.cache import Work
from conversation_mcp.searching.vectors.pieces import TextPiece
from conversation_mcp.stores.meant_texts import memory_pieces, memory_state

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
            yield same, memory_state(embedding)

    def pieces(self, group: str) -> Sequence[TextPiece]:
        """Return a vector that is given and the parts of the text in order; none if no memory has it any more."""
        row = self._row(group)
        return memory_pieces(remembered(row[1])) if row else ()

    def state(self, group: str) -> str | None:
        """Return the state of the text, None if no memory has it."""
        row = self._row(group)
        return memory_state(row[0]) if row else None

    def _row(self, same: str) -> tuple[str | None, str] | None:
        return self._ask(lambda database: database.execute(TEXT, (same,)).fetchone())
