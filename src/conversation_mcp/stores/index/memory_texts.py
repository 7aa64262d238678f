"""The memories that the index knows as texts of an index of vectors."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from conversation_mcp.records.memory_facts import remembered
from conversation_mcp.searching.cache import Work
from conversation_mcp.searching.vectors.pieces import TextPiece
from conversation_mcp.stores.meant_texts import VERSION, memory_pieces

TEXTS = "SELECT DISTINCT same FROM memories"
TEXT = "SELECT facts FROM memories WHERE same = ? LIMIT 1"


class MemoryTexts:
    """The texts by their hash; satisfies TextSource.

    Another text is another group, so that the vector of a text that was changed or forgotten has no place to stay, and
    what several conversations have is embedded once.
    """

    def __init__(self, ask: Callable[[Work[Any]], Any]) -> None:
        self._ask = ask

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the hash of each text."""
        for (same,) in self._ask(lambda database: database.execute(TEXTS).fetchall()):
            yield same, VERSION

    def pieces(self, group: str) -> Sequence[TextPiece]:
        """Return the parts of the text in order; none if no memory has it any more."""
        if (row := self._row(group)) is None:
            return ()
        return memory_pieces(remembered(row).content)

    def state(self, group: str) -> str | None:
        """Return the only state, None if no memory has the text."""
        return None if self._row(group) is None else VERSION

    def _row(self, same: str) -> str | None:
        found = self._ask(lambda database: database.execute(TEXT, (same,)).fetchone())
        return found[0] if found else None
