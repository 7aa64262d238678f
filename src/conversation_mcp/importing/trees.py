"""Conversations that are trees, because questions were edited and answers asked for again: one path is taken."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conversation_mcp.importing.base import Found, Reading


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


def main_and_branches(
    main: Sequence[str],
    branches: Sequence[Branch],
    source_id: str,
    reading: Reading,
    found: Callable[[Sequence[str], str, str | None], Found],
) -> Iterator[Found]:
    """Yield the conversation of the main path, then those of its branches; where these are not wanted, their number.

    Args:
        main: the path of the main conversation.
        branches: what else there is.
        source_id: the id of the main conversation.
        reading: tells whether branches are wanted.
        found: makes a conversation of a path, its id, and the id of the one that it is a branch of.
    """
    first = found(main, source_id, None)
    if not reading.all_branches:
        first.left_out["other branches"] += len(branches)
    yield first
    for branch in branches if reading.all_branches else ():
        yield found(branch.path, f"{source_id}/{branch.id}", source_id)
