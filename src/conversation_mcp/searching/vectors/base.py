"""The port of what keeps vectors: a file of its own, or tables of the database that has the texts, too."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from conversation_mcp.searching.vectors.near import Kinship, Neighbourhood
from conversation_mcp.searching.vectors.pieces import PackedVector, TextSource

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

T = TypeVar("T")


class Model(NamedTuple):
    """A model whose vectors are kept: its name, the choice of the user that opens it, and whether all are there."""

    row: int
    name: str
    choice: str
    is_whole: bool


class ModelVectors(Protocol):
    """The vectors of one model in one transaction, in which nobody else changes them."""

    def states(self) -> Mapping[str, str | None]:
        """Return the states of all groups by their names; None for those that are not complete."""
        ...

    def digests(self, group: str) -> Mapping[str, bytes]:
        """Return the digests of the known pieces of a group by their items."""
        ...

    def twins(self, digests: Iterable[bytes]) -> Mapping[bytes, PackedVector]:
        """Return the vectors of pieces with these digests, wherever they are."""
        ...

    def state_now(self, source: TextSource, group: str) -> str | None:
        """Return the state of a group, as `source` would; what is written after that holds until the transaction ends.

        Who deletes something for good does that, then forgets.
        """
        ...

    def put(self, group: str, made: Mapping[str, tuple[bytes, PackedVector]]) -> None:
        """Write digests and vectors of items over those that are there."""
        ...

    def settle(self, group: str, state: str, items: Collection[str]) -> None:
        """Note that all pieces of a group in this state are known, and drop all others."""
        ...

    def settle_all(self) -> None:
        """Note that the model knows everything, and forget all others."""
        ...

    def drop(self, groups: Iterable[str]) -> None:
        """Remove groups with all that is in them."""
        ...


class KeptVectors(Protocol):
    """The vectors of the texts of one kind, of one or more models. Every call blocks; none that reads raises anything.

    The vectors of another model are made beside those of the old one, which serve until the new ones are whole.
    """

    def size_bytes(self) -> int:
        """Return how much room they take."""
        ...

    def models(self) -> list[Model]:
        """Return the models whose vectors there are, the newest first."""
        ...

    def count(self, model: str) -> int:
        """Return how many pieces have a vector of this model."""
        ...

    def made(self, model: str) -> Mapping[str, str | None]:
        """Return the states of the groups that the model knows, and change nothing."""
        ...

    def nearest(self, model: str, query: "Floats", limit: int, within: Collection[str] | None = None) -> Neighbourhood:
        """Return the pieces whose vectors are nearest to the question's, among all groups or those named.

        Nothing is found of a model that is not known.
        """
        ...

    def kin(self, model: str, group: str, limit: int) -> Mapping[str, Kinship]:
        """Return how near other groups are to one, of those with a piece among the `limit` nearest to one of its own.

        Nothing is found as in `nearest`, and of a group that has no vectors yet.
        """
        ...

    def write(self, model: str, choice: str, work: Callable[[ModelVectors], T]) -> T:
        """Return the result of work on a model, which is added if it is not known, in one transaction.

        Raises:
            IndexUnusableError: nothing can be written.
        """
        ...

    def forget(self, groups: Collection[str], source: TextSource | None = None) -> None:
        """Remove all vectors of these groups, of every model, as completely as it is possible where they are kept.

        With a source, the vectors of what it still has stay.

        Raises:
            FilesystemError: they cannot be written.
        """
        ...

    def building(self) -> AbstractContextManager[object | None]:
        """Hold the right to bring the vectors up to date; None if another process has it. Raises as `write`."""
        ...

    def clean(self) -> None:
        """Leave no bytes of what was deleted, as far as that is possible now."""
        ...
