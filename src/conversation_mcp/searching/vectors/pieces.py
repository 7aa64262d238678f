"""What vectors are made of: pieces of text in groups, from a source."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple, Protocol

DIGEST_BYTES = 16


class PiecePart(NamedTuple):
    """A text and how much it counts in the vector of a piece."""

    text: str
    weight: float = 1.0


class GivenVector(NamedTuple):
    """A vector that came with a text, for a model of this name; nobody has looked whether it can be used."""

    model: str
    numbers: bytes
    """32-bit floats, little-endian."""


class TextPiece(NamedTuple):
    """What is found: an item of a group. Its vector is the sum of those of its parts, or the one that is given.

    Where a group has a given vector of the model, pieces without one are left out, else those with one.
    """

    item: str
    parts: tuple[PiecePart, ...]
    given: GivenVector | None = None


class PackedVector(NamedTuple):
    """A vector as it is kept."""

    code: bytes
    scale: float
    numbers: bytes


class TextSource(Protocol):
    """The texts that an index of vectors is derived from. Its methods block."""

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the state of each group. Pieces of a group with a known state are not looked at."""
        ...

    def pieces(self, group: str) -> Sequence[TextPiece]:
        """Return the pieces of a group as they are now; none if it is gone."""
        ...

    def state(self, group: str) -> str | None:
        """Return the state of a group now, None if it is gone. Asked while its vectors are written, so it is quick."""
        ...


def digest_of(piece: TextPiece) -> bytes:
    """Return a digest that changes with everything that the vector depends on."""
    made = blake2b(digest_size=DIGEST_BYTES)
    for text, weight in piece.parts:
        made.update(f"{weight}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
    if piece.given:
        made.update(piece.given.model.encode("utf-8", "surrogatepass") + b"\0" + piece.given.numbers)
    return made.digest()
