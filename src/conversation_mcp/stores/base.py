"""The port of the store, where conversations live. Services see the store only through it."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from conversation_mcp.limits.base import OwnerCounts
from conversation_mcp.records.findings import Finding
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.origins import Origin
from conversation_mcp.stores.attachments import Attachments
from conversation_mcp.stores.ears import Ear
from conversation_mcp.stores.finder import Finder

Change = Callable[[Conversation, str], Conversation]
"""Makes the new conversation from the stored one and the time of this write."""

OnWait = Callable[[float], Awaitable[None]]
"""Called repeatedly with the seconds spent waiting for a lock."""

Report = Callable[[str], Awaitable[None]]
"""Called repeatedly with a line that says what is being done."""


async def silent(line: str) -> None:
    """Drop the line, for callers who show nothing."""


Stamp = tuple[int, ...] | None
"""Differs between states of what is stored; None if nothing is stored."""


class TurnLock(Protocol):
    """The right to run a turn on one conversation, held across the provider call.

    It belongs to the object, not to a task: any task may release it.
    """

    async def release(self) -> None:
        """Release the lock; harmless if it was released before."""
        ...


@dataclass(frozen=True)
class Call:
    """A call whose result has not been delivered yet; `started_at` is, or will be, the `startedAt` of its question."""

    conversation_id: ConversationId
    started_at: str
    is_told: bool = field(default=False, compare=False)
    """Whether its failure was reported: repeating the call then continues where it failed."""


class CallRegister(Protocol):
    """Remembers calls and requests to stop them across processes, so that a repeated call is not a second question."""

    async def take(self, key: str, planned: Call | None = None) -> tuple[TurnLock | None, Call | None]:
        """Try to lock the name of a call, and return the lock and what `find` returns after that.

        The lock is None while a live process, this one included, holds the name. If it was taken and stands for
        nothing, `planned` is recorded at once, as by `claim`.
        """
        ...

    async def find(self, key: str) -> Call | None:
        """Return the call of that name, unless it was forgotten or is more than a day old."""
        ...

    async def claim(self, key: str, call: Call) -> None:
        """Record which call the name stands for. The caller holds the name."""
        ...

    async def forget(self, key: str, call: Call) -> None:
        """Free the name if it still stands for that call, whose result was delivered or which was never sent."""
        ...

    async def ask_to_stop(self, call: Call) -> None:
        """Leave a request to stop for the process that runs this turn."""
        ...

    async def asked_to_stop(self, calls: Collection[Call]) -> Collection[Call]:
        """Return those of the turns for which such requests were left, and remove what was left for any of them."""
        ...

    def hear(self, key: str) -> AbstractContextManager[Ear]:
        """Open an ear for who holds the name of a call."""
        ...


class Trashed(NamedTuple):
    """A conversation in the trash, which may hold several with the same id."""

    conversation_id: ConversationId
    deleted_at: str
    location: str
    """The absolute path of its file, for people."""


class Trash(Protocol):
    """Deleted conversations that can still be restored. Only these calls see them."""

    async def put(self, conversation_id: ConversationId, at: datetime | None = None) -> Trashed:
        """Move the conversation here, deleted now or then, durably and in one step. The caller holds its turn lock.

        Raises:
            ConversationNotFoundError: nothing is stored under the id.
        """
        ...

    async def entries(self) -> tuple[Trashed, ...]:
        """Return the contents of the trash, the latest deletion first."""
        ...

    async def load(self, trashed: Trashed) -> Conversation:
        """Read the conversation; raises as `Store.load`."""
        ...

    async def contents(self, trashed: Trashed, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Return the contents kept with it by their hashes; what is missing or damaged is left out."""
        ...

    async def restore(self, trashed: Trashed) -> None:
        """Move the conversation back, durably and in one step.

        Raises:
            ConversationNotFoundError: it is no longer here.
            FilesystemError: a conversation with this id exists already; neither is changed.
        """
        ...

    async def remove(self, trashed: Trashed) -> bool:
        """Remove it for good, with everything the store keeps beside it; harmless if it was removed before.

        Return whether its mark was kept; without one, an import may bring the conversation back.
        """
        ...

    async def marks(self) -> frozenset[str]:
        """Return `mark_of` the origin of each deleted conversation, in the trash or removed for good.

        The origin of a conversation that was not imported is `OWN` and its id.
        """
        ...


class Store(Protocol):
    """Keeps conversations. Every call raises FilesystemError if the place itself cannot be used."""

    @property
    def calls(self) -> CallRegister:
        """The register of calls that belongs to these conversations."""
        ...

    @property
    def limits(self) -> OwnerCounts:
        """What the owner of these conversations may do."""
        ...

    @property
    def attachments(self) -> Attachments:
        """The contents of files and images that the questions of these conversations name."""
        ...

    @property
    def trash(self) -> Trash:
        """The trash of these conversations."""
        ...

    @property
    def finder(self) -> Finder:
        """The finder of these conversations. It knows what was written through this store."""
        ...

    def location(self, conversation_id: ConversationId) -> str:
        """Return the absolute path of the conversation's file, for people."""
        ...

    async def reserve(self, at: datetime | None = None) -> ConversationId:
        """Return a new id that no other call in any process gets.

        Its time is `at`, or else now; it is a little later if ids of that time are taken.
        """
        ...

    async def reserve_this(self, conversation_id: ConversationId) -> bool:
        """Reserve this very id; return False if it is taken."""
        ...

    async def unreserve(self, conversation_id: ConversationId) -> None:
        """Release a reserved id under which no conversation was stored, with its attachments; leave any other alone."""
        ...

    async def create(self, conversation: Conversation) -> None:
        """Write the first state of a conversation whose id was reserved; on failure, leave nothing of it.

        Attachments that were put under the id stay with it.
        """
        ...

    async def exists(self, conversation_id: ConversationId) -> bool:
        """Tell whether a conversation is stored under the id, without reading or locking it."""
        ...

    async def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the conversation as it is now, without waiting for a lock.

        Raises:
            ConversationNotFoundError: nothing is stored under the id.
            ConversationCorruptedError: what is stored is not a conversation; it is left unchanged.
        """
        ...

    async def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Apply the change to what is stored now and store the result, durably and in one step.

        The store sets `updatedAt`, which never goes back, and `messageCount`. Cancellation cannot interrupt the step.
        Raises the errors of `load`. After an error, a failed write included, the stored conversation is intact.
        """
        ...

    async def stamp(self, conversation_id: ConversationId | None) -> Stamp:
        """Return a stamp that changes with each write of the conversation; for None, with each one added or removed."""
        ...

    async def size_bytes(self) -> int:
        """Return how much room everything of this owner takes, the trash included."""
        ...

    async def imports(self) -> Mapping[Origin, ConversationId]:
        """Return the ids of imported conversations by their origin: `from` and `id` of `imported`."""
        ...

    async def freshen(self, patience_seconds: float, report: Report) -> str | None:
        """Bring the finder up to date with writes of other processes, waiting up to `patience_seconds`.

        Return a notice of what is still missing then. The work is done by `run`, which must be running.
        Raises FilesystemError if the place cannot be read.
        """
        ...

    async def run(self) -> None:
        """Do the store's background work until cancelled: sweep, and keep the finder up to date."""
        ...

    async def sweep(self) -> None:
        """Remove what killed processes left behind, and nothing of live ones. Raises nothing."""
        ...

    async def acquire_turn(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> TurnLock:
        """Wait for the turn lock, first come first served within this process.

        Raises:
            ConversationBusyError: it was not free within `wait_seconds`.
        """
        ...

    async def remove_all(self) -> None:
        """Remove all that is left of this owner, in the place and in the index, at once and for good.

        It waits for nobody: conversations are deleted first, each when no turn runs on it. It may be repeated.

        Raises:
            FilesystemError: something cannot be removed, or comes back all the time.
        """
        ...

    async def traces(self) -> list[str]:
        """Return, for people, what is still there of this owner, wherever this store or its index keeps anything."""
        ...

    def import_alone(self, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Keep other imports out during the block. Blocks; calls `on_wait` if another import has to end first."""
        ...

    async def keep_export(self, conversation_id: ConversationId, ending: str, text: str) -> str:
        """Store an export with its conversation, replacing the last one of that ending; return where it is."""
        ...

    async def try_out(self) -> Finding:
        """Try writing, locking and reading back in the place of the conversations, and leave no trace."""
        ...

    async def forgotten_after(self, conversation_id: ConversationId) -> datetime | None:
        """Return when the store forgets the conversation unless it is written before; None if it keeps it."""
        ...

    def hear(self, conversation_id: ConversationId | None) -> AbstractContextManager[Ear]:
        """Open an ear for the end of its turns, requests to stop them and writes beside them; None stands for all."""
        ...

    async def kept_for(self) -> str | None:
        """Return the age that is set for this owner (`Retention`); None if there is none."""
        ...

    async def turn_is_held(self, conversation_id: ConversationId) -> bool:
        """Tell whether a live process, this one included, is running a turn on the conversation."""
        ...
