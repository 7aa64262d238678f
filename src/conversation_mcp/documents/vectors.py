"""The passages of documents as texts of an index of vectors."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from conversation_mcp.documents.ranking import Ranked
from conversation_mcp.documents.rows import BETWEEN, PASSAGES_OF, STATE, STATES
from conversation_mcp.searching.cache import Work
from conversation_mcp.searching.vectors.pieces import PiecePart, TextPiece, digest_of

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.searching.vectors.near import Neighbourhood

VERSION = "1"
"""Part of the state of every file: a change of what is embedded makes the vectors anew."""


class PassageTexts:
    """The passages of documents by file; satisfies TextSource. An item is the place of a passage in its file."""

    def __init__(self, ask: Callable[[Work[Any]], Any]) -> None:
        self._ask = ask

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield path and content of each file with passages."""
        for path, digest in self._ask(lambda database: database.execute(STATES).fetchall()):
            yield os.fsdecode(path), _state(digest)

    def pieces(self, group: str) -> Sequence[TextPiece]:
        """Return the passages of a file in order."""
        return [piece for _, piece in self._ask(lambda database: pieces_of(database, group))]

    def state(self, group: str) -> str | None:
        """Return the content of a file, None if it is gone or has no passages."""
        found = self._ask(lambda database: database.execute(STATE, (os.fsencode(group),)).fetchone())
        return _state(found[0]) if found and os.path.lexists(group) else None


def _state(digest: bytes) -> str:
    return f"{VERSION}:{digest.hex()}"


def pieces_of(database: "sqlite3.Connection", path: str) -> list[tuple[int, TextPiece]]:
    """Return the passages of a file in order, with their rows."""
    found = database.execute(PASSAGES_OF, (os.fsencode(path),)).fetchall()
    return [
        (row, _piece(str(place), headings.replace(BETWEEN, " > "), text))
        for place, (row, headings, text) in enumerate(found)
    ]


def _piece(item: str, heading: str, text: str) -> TextPiece:
    """Return a passage as it is embedded: below its headings."""
    return TextPiece(item, (PiecePart("\n".join(filter(None, (heading, text)))),))


class Meant(NamedTuple):
    """How many standard deviations passages are nearer in meaning than usual, by row, nearest first."""

    near: Mapping[int, float]
    around: "Neighbourhood"
    """What they were taken from."""

    @property
    def certain(self) -> dict[int, float]:
        """The passages that are nearer than by chance."""
        return {row: nearness for row, nearness in self.near.items() if nearness > self.around.chance}

    def of(self, found: Iterable[Ranked]) -> dict[int, float]:
        """Return the same of passages that words found, however far they are; without those that have no vector."""
        digests = {one.row: digest_of(_piece("", one.passage.heading, one.passage.text)) for one in found}
        similar = self.around.similar(digests.values())
        return {row: self.around.nearness(similar[one]) for row, one in digests.items() if one in similar}


def meant_by(database: "sqlite3.Connection", around: "Neighbourhood") -> Meant:
    """Return the passages around a question, without those whose text has changed since their vector was made."""
    files = {near.group: pieces_of(database, near.group) for near in around.found}
    rows: dict[int, float] = {}
    for near in around.found:
        place, pieces = int(near.item), files[near.group]
        if place < len(pieces) and digest_of(pieces[place][1]) == near.digest:
            rows[pieces[place][0]] = around.nearness(near.similarity)
    return Meant(rows, around)
