"""Conversations that are trees, because questions were edited and answers asked for again: one path is taken."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from conversation_mcp.importing.base import LeftOut, ReadOptions, Sourced
from conversation_mcp.importing.messages import answered
from conversation_mcp.records.models import Message


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


@dataclass(frozen=True)
class Tree:
    """A conversation as its source keeps it: what hangs on what, and which path was shown last."""

    id: str
    place: str
    parents: Mapping[str, str | None]
    """Empty when there is one path only."""
    main: Sequence[str]
    said: Callable[[Sequence[str], Counter[LeftOut]], Sequence[Message]]
    """Makes the messages of a path, and counts what it leaves out of it."""
    title: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def conversations(self, reading: ReadOptions) -> Iterator[Sourced]:
        """Yield that of the main path, then those of the branches; where these are not wanted, their number."""
        first = self._found(self.main, self.id, None)
        branches: list[Branch] = []
        for branch in branches_of(self.main, self.parents):
            left_out: Counter[LeftOut] = Counter()
            if self.said(branch.own, left_out):
                branches.append(branch)
            else:
                first.left_out.update(left_out)
        if not reading.all_branches:
            first.left_out["other branches"] += len(branches)
        yield first
        for branch in branches if reading.all_branches else ():
            yield self._found(branch.path, f"{self.id}/{branch.id}", self.id)

    def _found(self, path: Sequence[str], source_id: str, branch_of: str | None) -> Sourced:
        left_out: Counter[LeftOut] = Counter()
        messages, unanswered = answered(self.said(path, left_out))
        return Sourced(
            id=source_id,
            place=self.place,
            messages=messages,
            title=self.title,
            created_at=self.created_at,
            updated_at=self.updated_at,
            unanswered=unanswered,
            branch_of=branch_of,
            left_out=left_out,
        )
