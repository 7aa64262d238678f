"""The port of an import format: which files it knows, and the conversations that it finds in them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from conversation_mcp.records.models import Conversation, Message, PendingTurn, parse_time

EARLIEST_YEAR = 2000
LeftOut = str
"""What is left out and counted: by a rule that `docs/import-export.md` states, else by its name in the source."""


@dataclass(frozen=True)
class SourceFile:
    """A file, or a member of an archive, under the name that is shown for it."""

    name: str
    size: int
    open: Callable[[], BinaryIO]
    path: Path | None = None
    """Where it lies, unless it is a member of an archive."""
    beside: Mapping[str, "SourceFile"] = field(default_factory=dict["str", "SourceFile"], repr=False, compare=False)
    """All files of the same source by name."""


@dataclass(frozen=True)
class ImportProblem:
    """Something that cannot be imported: where it stands and why."""

    place: str
    reason: str


@dataclass(frozen=True)
class Sourced:
    """A conversation as it stands in a source."""

    id: str
    """Its id there, by which it is known again."""
    place: str
    messages: tuple[Message, ...]
    earlier_ids: tuple[str, ...] = ()
    """Ids under which it may have been imported before."""
    title: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    unanswered: tuple[PendingTurn, ...] = ()
    """Questions at its end without an answer, the last one last."""
    failed: tuple[PendingTurn, ...] = ()
    """Questions before these that never got an answer."""
    branch_of: str | None = None
    """The id there of the conversation that this one is another branch of."""
    left_out: Counter[LeftOut] = field(default_factory=Counter["LeftOut"])
    whole: Conversation | None = None
    """What our own format has: all of it. The other fields are then taken from it."""


@dataclass(frozen=True)
class Unplaced:
    """What belongs to no conversation of a source, and is only counted."""

    left_out: Counter[LeftOut]


Item = Sourced | ImportProblem | Unplaced


@dataclass(frozen=True)
class ReadOptions:
    """How a source is read."""

    now: datetime
    all_branches: bool = False
    on_read: Callable[[int], None] = lambda _: None
    """Told the number of bytes that were read, and read for the last time."""

    def moment(self, value: object) -> datetime | None:
        """Return the time that a source gives, in seconds since 1970 or ISO 8601; None for what cannot be true."""
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
        return moment if moment.year >= EARLIEST_YEAR and moment <= self.now + timedelta(days=366) else None


@dataclass(frozen=True)
class ImportFormat:
    """A format. Files are given to it when one of their first entries is its own."""

    name: str
    """What stands in `imported.from`."""
    title: str
    claims: Callable[[SourceFile, Any], bool]
    """Told a file and one of its first entries, which may be any JSON; None where the file is no JSON."""
    read: Callable[[Sequence[SourceFile], ReadOptions], Iterator[Item]]
    """Read the files that were claimed, from the first to the last, in flat memory."""
