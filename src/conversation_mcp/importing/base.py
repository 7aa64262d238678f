"""The port of an import format: the files that it claims, and the conversations in them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from conversation_mcp.records.memories import Memory
from conversation_mcp.records.models import Conversation, Message, PendingTurn, parse_time

EARLIEST_YEAR = 2000
LeftOut = str
"""The name under which something left out is counted: that of a rule in `docs/import-export.md`, or of the source."""


@dataclass(frozen=True)
class SourceFile:
    """A file or a member of an archive, with the name that is shown."""

    name: str
    size: int
    open: Callable[[], BinaryIO]
    path: Path | None = None
    """Its path, unless it is a member of an archive."""
    beside: Mapping[str, "SourceFile"] = field(default_factory=dict["str", "SourceFile"], repr=False, compare=False)
    """All files of the same source by name."""


@dataclass(frozen=True)
class ImportProblem:
    """Something that cannot be imported, with its place and the reason."""

    place: str
    reason: str


@dataclass(frozen=True)
class Sourced:
    """A conversation as its source holds it."""

    id: str
    """Its id in the source, by which a later import recognizes it."""
    place: str
    messages: tuple[Message, ...]
    earlier_ids: tuple[str, ...] = ()
    """Other ids under which it may have been imported before."""
    title: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    unanswered: tuple[PendingTurn, ...] = ()
    """Unanswered questions at its end, in order."""
    failed: tuple[PendingTurn, ...] = ()
    """Unanswered questions before these, in order."""
    memories: tuple[Memory, ...] = ()
    """What is to be remembered, each text once."""
    all_known: bool = False
    """Whether other conversations hold all of its memories already, and there is nothing else in it."""
    branch_of: str | None = None
    """The id in the source of the conversation that this one is a branch of."""
    left_out: Counter[LeftOut] = field(default_factory=Counter["LeftOut"])
    whole: Conversation | None = None
    """The whole conversation, if the format is our own. The other fields are then derived from it."""
    contents: Callable[[Collection[str]], Mapping[str, bytes]] = field(default=lambda _: {}, repr=False, compare=False)
    """Reads the contents with these hashes, which questions name; those that are missing or damaged are left out."""


@dataclass(frozen=True)
class Unplaced:
    """Contents of a source that belong to no conversation, and are only counted."""

    left_out: Counter[LeftOut]


Item = Sourced | ImportProblem | Unplaced


@dataclass(frozen=True)
class ReadOptions:
    """How a source is read."""

    now: datetime
    all_branches: bool = False
    on_read: Callable[[int], None] = lambda _: None
    """Called with the number of bytes read since the last call, for progress; no byte counts twice."""

    def moment(self, value: object) -> datetime | None:
        """Return a time given in seconds since 1970 or in ISO 8601; None if it is not plausible."""
        try:
            if isinstance(value, str):
                moment = parse_time(value.strip())
            elif isinstance(value, int | float) and not isinstance(value, bool):
                moment = datetime.fromtimestamp(value, self.now.tzinfo)
            else:
                return None
            moment = moment.astimezone(self.now.tzinfo)
        except (ValueError, OverflowError, OSError):
            return None
        # A zero, and milliseconds that are read as seconds, are no times of a conversation.
        return moment if moment.year >= EARLIEST_YEAR and moment <= self.now + timedelta(days=366) else None


@dataclass(frozen=True)
class ImportFormat:
    """A format. It reads a file if it claims one of the file's first entries."""

    name: str
    """The value of `imported.from`."""
    title: str
    claims: Callable[[SourceFile, Any], bool]
    """Decides by a file and one of its first entries, which may be any JSON; None if the file is not JSON."""
    read: Callable[[Sequence[SourceFile], ReadOptions], Iterator[Item]]
    """Reads the claimed files in order, without holding them in memory."""
