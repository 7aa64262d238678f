"""The port of a setting of a store: for how long the conversations of each owner are kept."""

from collections.abc import Mapping
from typing import Protocol


class Retention(Protocol):
    """Ages such as `90d` by owner; servers delete what was not touched for so long. Every call blocks.

    It goes with the owner when all of the owner is removed. Every call raises FilesystemError if the place cannot be
    used.
    """

    def ages(self) -> Mapping[str, str]:
        """Return the ages of the owners who have one."""
        ...

    def put(self, owner: str, age: str | None) -> None:
        """Set the age of an owner; None keeps the conversations for as long as the store keeps any."""
        ...
