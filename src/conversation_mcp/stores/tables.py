"""The port of the tables of a store that has some: their version, and how they get to the one that is needed."""

from typing import NamedTuple, Protocol


class TableVersions(NamedTuple):
    """The version of the tables that are there, 0 if there are none, and the one that this program needs."""

    present: int
    needed: int
    usable_from: int | None = None
    """The oldest version that newer tables can stand for; None unless they are newer."""

    @property
    def are_usable(self) -> bool:
        """Whether this program can work with them."""
        return self.present == self.needed or (self.usable_from is not None and self.usable_from <= self.needed)


class Tables(Protocol):
    """The tables of one database. Every call blocks, and raises DatabaseError if the database cannot be used."""

    @property
    def place(self) -> str:
        """The address of the database, for people and without secrets."""
        ...

    def versions(self) -> TableVersions:
        """Return the versions."""
        ...

    def migrate(self) -> list[int]:
        """Bring the tables to the version that is needed, while nobody else does, and return the steps that were done.

        Raises:
            SchemaError: they are newer than this program can use.
        """
        ...

    def without_meaning(self) -> str | None:
        """Return why nothing is found by meaning, and what helps; None if it can be."""
        ...
