"""Conversations as trees, which arise from edited questions and repeated answers. One path of each is imported."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from conversation_mcp.importing.base import LeftOut, ReadOptions, Sourced
from conversation_mcp.importing.messages import answered
from conversation_mcp.records.models import Message


@dataclass(frozen=True)
class Branch:
    """A path from the root to a leaf other than the current one, and the part of it that is on no earlier path."""

    path: tuple[str, ...]
    own: tuple[str, ...]

    @property
    def id(self) -> str:
        """The node where it leaves the other paths, which stays the same when the branch grows."""
        return self.own[0]


def path_to(leaf: str | None, parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the path from the root, which begins below a missing parent, or where a cycle would close."""
    path: dict[str, None] = {}
    node = leaf
    while node is not None and node in parents and node not in path:
        path[node] = None
        node = parents[node]
    return tuple(reversed(path))


def leaves_of(parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the nodes without children, in order."""
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
    """A conversation as its source keeps it: the parents of its nodes, and the path that was shown last."""

    id: str
    place: str
    parents: Mapping[str, str | None]
    """Empty if there is only one path."""
    main: Sequence[str]
    said: Callable[[Sequence[str], Counter[LeftOut]], Sequence[Message]]
    """Makes the messages of a path, and counts what it leaves out."""
    title: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def conversations(self, reading: ReadOptions) -> Iterator[Sourced]:
        """Yield the conversation of the main path, then those of the branches, which are only counted by default."""
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
