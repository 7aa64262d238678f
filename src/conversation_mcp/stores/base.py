"""The port of the store: where conversations live. Services know nothing else of it."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from conversation_mcp.records.findings import Finding
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.origins import Origin
from conversation_mcp.stores.finder import Finder

Change = Callable[[Conversation, str], Conversation]
"""Makes the new conversation from the one that is stored now and the time of this write."""

OnWait = Callable[[float], Awaitable[None]]
"""Told, several times, for how many seconds a lock has been waited for."""

Report = Callable[[str], Awaitable[None]]
"""Told, several times, in a line what is being done."""

Stamp = tuple[int, ...] | None
"""Tells states of what is stored apart; None where nothing is stored."""


class TurnLock(Protocol):
    """The right to run a turn on one conversation; held across the provider call, by whichever task has it."""

    async def release(self) -> None:
        """Give the lock back; harmless when it was given back already."""
        ...


@dataclass(frozen=True)
class Call:
    """A call that was made and whose result nobody has got yet; its question is, or will be, `startedAt` that time."""

    conversation_id: ConversationId
    started_at: str
    is_told: bool = field(default=False, compare=False)
    """Its failure was told: the same call again goes on where it failed."""


class CallRegister(Protocol):
    """Remembers calls across processes, so that the same call again is not a second question; and wishes to stop."""

    async def take(self, key: str) -> tuple[TurnLock | None, Call | None]:
        """Take the call of that name into this process's hands, and return what `find` does once that was tried.

        The first is None while a live process, this one included, has the name.
        """
        ...

    async def find(self, key: str) -> Call | None:
        """Return the call of that name, unless it is forgotten or a day old."""
        ...

    async def claim(self, key: str, call: Call) -> None:
        """Write down what the name stands for; whoever does has taken it."""
        ...

    async def forget(self, key: str, call: Call) -> None:
        """Free the name if it still stands for that call: the result was delivered, or nothing was sent."""
        ...

    async def ask_to_stop(self, call: Call) -> None:
        """Leave word for the process that runs this turn."""
        ...

    async def is_asked_to_stop(self, call: Call) -> bool:
        """Tell whether such word was left for this very turn; it is gone afterwards."""
        ...


@dataclass(frozen=True)
class Trashed:
    """A conversation in the trash; there may be more than one with the same id."""

    conversation_id: ConversationId
    deleted_at: str
    location: str
    """Where a person finds it: the absolute path of its file."""


class Trash(Protocol):
    """Deleted conversations that can still be brought back. Nothing but these calls sees them."""

    async def put(self, conversation_id: ConversationId) -> Trashed:
        """Move the conversation here, durably and in one step; whoever calls holds its turn lock.

        Raises:
            ConversationNotFoundError: nothing is stored under the id.
        """
        ...

    async def entries(self) -> tuple[Trashed, ...]:
        """Return what is here, the latest deletion first."""
        ...

    async def load(self, trashed: Trashed) -> Conversation:
        """Read the conversation; raises as `Store.load`."""
        ...

    async def restore(self, trashed: Trashed) -> None:
        """Move the conversation back, durably and in one step.

        Raises:
            ConversationNotFoundError: it is no longer here.
            FilesystemError: there is a conversation with this id already; neither is changed.
        """
        ...

    async def remove(self, trashed: Trashed) -> bool:
        """Remove it for good, with whatever the store keeps beside it; harmless when that was done already.

        Return whether its mark stays; if not, an import may bring it back.
        """
        ...

    async def marks(self) -> frozenset[str]:
        """Return what `mark_of` makes of the origin of each conversation that was deleted, for good or not.

        The origin of one that was not brought in from elsewhere is `OWN` and its id.
        """
        ...


class Store(Protocol):
    """Keeps conversations. Every call raises FilesystemError when the place itself cannot be used."""

    @property
    def calls(self) -> CallRegister:
        """The register of calls that belongs to these conversations."""
        ...

    @property
    def trash(self) -> Trash:
        """The trash of these conversations."""
        ...

    @property
    def finder(self) -> Finder:
        """The finder of these conversations, which knows what was written through this store."""
        ...

    def location(self, conversation_id: ConversationId) -> str:
        """Return where a person finds the conversation: the absolute path of its file."""
        ...

    async def reserve(self, at: datetime | None = None) -> ConversationId:
        """Return a new id that no other call in any process gets; it tells the time `at`, or now, or one soon after."""
        ...

    async def reserve_this(self, conversation_id: ConversationId) -> bool:
        """Reserve this very id; False when it is taken."""
        ...

    async def unreserve(self, conversation_id: ConversationId) -> None:
        """Give an id back under which nothing was stored; anything else is left alone."""
        ...

    async def create(self, conversation: Conversation) -> None:
        """Write the first state of a conversation whose id was reserved; on failure nothing of it stays."""
        ...

    async def exists(self, conversation_id: ConversationId) -> bool:
        """Tell whether a conversation is stored under the id, without reading or locking it."""
        ...

    async def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the conversation as it is now, without waiting for anybody.

        Raises:
            ConversationNotFoundError: nothing is stored under the id.
            ConversationCorruptedError: what is stored is no conversation; it stays as it is.
        """
        ...

    async def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Apply the change to what is stored now and store the result, durably and as one step.

        The store sets `updatedAt` (never backwards) and `messageCount`; cancellation cannot cut the step.
        Raises as `load`; then, and when the write fails, what was stored is intact.
        """
        ...

    async def stamp(self, conversation_id: ConversationId | None) -> Stamp:
        """Return what differs after each write of the conversation; of None, after one has come or gone."""
        ...

    async def imports(self) -> Mapping[Origin, ConversationId]:
        """Return the conversations that were brought in from elsewhere, by what `imported` says: `from` and `id`."""
        ...

    async def freshen(self, patience_seconds: float, report: Report) -> str | None:
        """Have the finder see what others have written, as far as that is worth a wait; return what is missing then.

        It needs `run`. Raises FilesystemError when the place cannot be read.
        """
        ...

    async def run(self) -> None:
        """Do what the store does of its own accord, until cancelled: sweep, and keep the finder in step."""
        ...

    async def sweep(self) -> None:
        """Remove what killed processes left behind; what belongs to live ones stays. Raises nothing."""
        ...

    async def acquire_turn(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> TurnLock:
        """Wait for the turn lock, first come first served within this process.

        Raises:
            ConversationBusyError: it was not free within `wait_seconds`.
        """
        ...

    def import_alone(self, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Keep other imports out while the block runs; it is told when one has to be waited for. Blocks."""
        ...

    async def keep_export(self, conversation_id: ConversationId, ending: str, text: str) -> str:
        """Keep an export with its conversation, in the place of the last one of that ending; return where it is."""
        ...

    async def try_out(self) -> Finding:
        """Try to write, to lock and to read back where the conversations are, and leave no trace."""
        ...

    async def turn_is_held(self, conversation_id: ConversationId) -> bool:
        """Tell whether a live process, this one included, is running a turn on the conversation."""
        ...
