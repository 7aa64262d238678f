"""Conversations that are trees, because questions were edited and answers asked for again: one path is taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Branch:
    """A path from the root to a leaf that is not the current one, and the part of it that is on no earlier path."""

    path: tuple[str, ...]
    own: tuple[str, ...]

    @property
    def id(self) -> str:
        """The node where it leaves the others, which stays the same while it grows."""
        return self.own[0]


def path_to(leaf: str | None, parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the way from the root; it begins where a parent is missing, or would come a second time."""
    path: dict[str, None] = {}
    node = leaf
    while node is not None and node in parents and node not in path:
        path[node] = None
        node = parents[node]
    return tuple(reversed(path))


def leaves_of(parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the nodes that are nobody's parent, in their order."""
    inner = set(parents.values())
    return tuple(node for node in parents if node not in inner)


def branches_of(main: Sequence[str], parents: Mapping[str, str | None]) -> tuple[Branch, ...]:
    """Return the paths to all other leaves."""
    claimed = set(main)
    found: list[Branch] = []
    for leaf in leaves_of(parents):
        path = path_to(leaf, parents)
        if own := tuple(node for node in path if node not in claimed):
            found.append(Branch(path, own))
            claimed.update(own)
    return tuple(found)
