"""The port of conversions: of a readable store to an encrypted one and back, and to another master key."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from conversation_mcp.stores.headway import Headway

Goal = Literal["encrypt", "decrypt", "rotate"]
"""To encrypt what is not, to decrypt what is, or to wrap keys by the first master key that are wrapped by another."""


class Convertible(NamedTuple):
    """How much is to be converted."""

    conversations: int = 0
    contents: int = 0
    calls: int = 0
    keys: int = 0
    exports: int = 0
    """Exports beside conversations, which are removed: they would stay readable, and can be made again."""

    def plus(self, other: "Convertible") -> "Convertible":
        """Return the sums."""
        return Convertible(*(one + another for one, another in zip(self, other, strict=True)))


class Converter(Protocol):
    """Converts everything of one owner. Whatever interrupts it, all can be read, and the next run does what is left."""

    def look(self, goal: Goal) -> Convertible:
        """Return what is to be converted, without opening or changing anything.

        Raises:
            FilesystemError: the place cannot be read.
        """
        ...

    def convert(self, goal: Goal, headway: "Headway") -> Iterator[str]:
        """Do it, and yield what could not be converted, which stays as it is.

        Raises:
            EncryptionKeyError: the place is encrypted with another key, or a key is missing.
            FilesystemError: the place cannot be read.
        """
        ...
