"""The store that keeps each conversation as a JSON file of its own."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from aiofiles.os import wrap
from anyio.lowlevel import checkpoint_if_cancelled

from conversation_mcp.cancellation import finish, in_thread
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.owners import LOCAL
from conversation_mcp.records.findings import Finding
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.origins import Origin
from conversation_mcp.stores.base import Change, OnWait, Report, Stamp, Store
from conversation_mcp.stores.ears import Ear, hear_nothing
from conversation_mcp.stores.files.calls import CallFiles
from conversation_mcp.stores.files.contents import ContentFiles
from conversation_mcp.stores.files.finder import FileFinder
from conversation_mcp.stores.files.folder import ConversationFolder
from conversation_mcp.stores.files.keeper import IndexKeeper
from conversation_mcp.stores.files.limits import LimitFiles
from conversation_mcp.stores.files.memory import FileMemory
from conversation_mcp.stores.files.owners import home_for
from conversation_mcp.stores.files.retention import age_in
from conversation_mcp.stores.files.sizes import size_of
from conversation_mcp.stores.files.trash import TrashFiles
from conversation_mcp.stores.files.vault import vault_of
from conversation_mcp.stores.lines import Lines
from conversation_mcp.stores.threaded_attachments import ThreadedAttachments
from conversation_mcp.stores.trial import tried
from conversation_mcp.stores.turn_locks import HeldTurn, TurnLocks
from conversation_mcp.threads import begun_in_thread

if TYPE_CHECKING:
    from conversation_mcp.sealing.keys import Encryption
    from conversation_mcp.stores.files.removal import OwnersPlace

SWEPT_AT_ONCE = 100
PAUSE_SECONDS = 0.05
"""About ten times as long as a sweep of `SWEPT_AT_ONCE` folders takes, so that sweeping uses a tenth of the time."""
SCRATCH_PREFIX = ".conversation-mcp-doctor-"


class FileStore:
    """Conversations in a folder, shared with every process that uses the same one; satisfies Store."""

    def __init__(
        self,
        folder: Path,
        *,
        now: Callable[[], datetime],
        owner: str = LOCAL,
        keeper: IndexKeeper | None = None,
        encryption: "Encryption | None" = None,
        is_durable: bool = True,
        memory: FileMemory | None = None,
    ) -> None:
        self._root = folder.absolute()
        self._now = now
        self._owner = owner
        self._encryption = encryption
        self._memory = memory or FileMemory()
        vault = vault_of(self._root, owner, encryption, is_durable=is_durable)
        self._keeper = keeper or IndexKeeper(FileFinder(self._root, now, vault=vault), now, purges=owner == LOCAL)
        self._folder = ConversationFolder(self._root, now, owner, vault, is_durable=is_durable, memory=self._memory)
        self._load = wrap(self._folder.load)
        self._writers = Lines()
        self._turns = TurnLocks(self._folder.try_turn)
        self._calls = CallFiles(self._root, now, vault)
        self._limits = LimitFiles(self._root, now)
        self._contents = ContentFiles(self._root, vault, is_durable=is_durable, recent=self._memory.contents)
        self._attachments = ThreadedAttachments(self._contents)
        self._trash = TrashFiles(
            self._root, self._folder, vault, self._calls, now, self._note_move, is_durable=is_durable
        )

    @property
    def calls(self) -> CallFiles:
        """The register of calls, in the same folder."""
        return self._calls

    @property
    def limits(self) -> LimitFiles:
        """The limits, in the same folder."""
        return self._limits

    @property
    def attachments(self) -> ThreadedAttachments:
        """The attachments, each beside the file of its conversation."""
        return self._attachments

    @property
    def trash(self) -> TrashFiles:
        """The trash, in the same folder."""
        return self._trash

    @property
    def finder(self) -> FileFinder:
        """The finder of the same folder."""
        return self._keeper.finder

    def location(self, conversation_id: ConversationId) -> str:
        """Return the absolute path of the conversation's file."""
        return str(self._folder.file(conversation_id))

    async def reserve(self, at: datetime | None = None) -> ConversationId:
        """Make the folder of a new conversation."""
        return await in_thread(self._folder.reserve, at)

    async def reserve_this(self, conversation_id: ConversationId) -> bool:
        """Make the folder of that name, unless it exists."""
        return await in_thread(self._folder.reserve_this, conversation_id)

    async def unreserve(self, conversation_id: ConversationId) -> None:
        """Remove the folder, unless it holds a conversation."""
        await in_thread(self._folder.unreserve, conversation_id)

    async def create(self, conversation: Conversation) -> None:
        """Write the first state into the reserved folder; on failure, remove the folder."""
        await finish(self._create(conversation))

    async def exists(self, conversation_id: ConversationId) -> bool:
        """Tell whether the file exists, whatever it holds."""
        return await in_thread(self._folder.exists, conversation_id)

    async def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the file as it is now, without a lock and without a trace."""
        loaded = await finish(self._load(conversation_id))
        await checkpoint_if_cancelled()
        return loaded

    async def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Replace the file with the changed conversation; cancellation takes effect only after the write."""
        updated = await finish(self._update(check_id(conversation_id), change))
        await checkpoint_if_cancelled()  # a turn that was stopped meanwhile must not ask the provider
        return updated

    async def size_bytes(self) -> int:
        """Add up the sizes of all files."""
        return await in_thread(size_of, self._root)

    async def stamp(self, conversation_id: ConversationId | None) -> Stamp:
        """Return inode, time and size of the file; for None, inode, time and link count of the root folder."""
        return await in_thread(self._folder.stamp, conversation_id)

    async def imports(self) -> Mapping[Origin, ConversationId]:
        """Read the beginning of each file; files that cannot be read are left out."""
        return await in_thread(self._folder.imports)

    async def acquire_turn(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> HeldTurn:
        """Wait for the turn lock; a wait of 0 s is a single try."""
        return await self._turns.acquire(check_id(conversation_id), wait_seconds, on_wait)

    async def forgotten_after(self, conversation_id: ConversationId) -> None:
        """Return None: what is kept is kept."""

    async def kept_for(self) -> str | None:
        """Read the file of the owner."""
        return await in_thread(age_in, self._root)

    def hear(self, conversation_id: ConversationId | None) -> AbstractContextManager[Ear]:
        """Hear nothing: whoever waits looks."""
        return hear_nothing(conversation_id)

    async def turn_is_held(self, conversation_id: ConversationId) -> bool:
        """Tell whether a live process holds the turn lock. Leaves no trace."""
        return await in_thread(self._folder.turn_is_held, conversation_id)

    async def remove_all(self) -> None:
        """Remove the folder, or what is the owner's own in the root, and the indexes."""
        await in_thread(lambda: self._place().remove())

    async def traces(self) -> list[str]:
        """Look at every name, and at every byte beside the indexes."""
        return await in_thread(lambda: self._place().traces())

    def import_alone(self, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold a lock of the folder."""
        return self._folder.import_alone(on_wait)

    async def keep_export(self, conversation_id: ConversationId, ending: str, text: str) -> str:
        """Write the export beside the file of its conversation."""
        return str(await in_thread(self._folder.keep_export, conversation_id, ending, text))

    async def try_out(self) -> Finding:
        """Try a scratch folder on the same disk."""
        from tempfile import TemporaryDirectory

        existing = await in_thread(_existing, self._root)
        try:
            scratch = await in_thread(partial(TemporaryDirectory[str], prefix=SCRATCH_PREFIX, dir=existing))
            try:
                return await tried(FileStore(Path(scratch.name), now=self._now, encryption=self._encryption))
            finally:
                await in_thread(scratch.cleanup)
        except (ConversationMCPError, OSError) as error:
            return Finding("fail", f"the store does not work in {existing}: {error}")

    async def freshen(self, patience_seconds: float, report: Report) -> str | None:
        """Compare the index with the folder, waiting up to `patience_seconds`."""
        return await self._keeper.freshen(patience_seconds, report)

    async def run(self) -> None:
        """Sweep once, and keep the index up to date; in the end, forget what was read."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.sweep)
                await self._keeper.run()
        finally:
            self._memory.forget(self._root)

    async def sweep(self) -> None:
        """Sweep some folders at a time, so that neither the start nor the exit of the program waits for it."""
        await in_thread(self._calls.sweep)
        names = await in_thread(self._folder.names)
        for start in range(0, len(names), SWEPT_AT_ONCE):
            # One thread for some folders: a thread for each would cost more than looking at it.
            await in_thread(self._folder.sweep, names[start : start + SWEPT_AT_ONCE])
            await anyio.sleep(PAUSE_SECONDS)

    def _place(self) -> "OwnersPlace":
        from conversation_mcp.stores.files.removal import OwnersPlace

        return OwnersPlace(self._root, self._owner, self.finder.index_files())

    def _note_move(self, conversation_id: ConversationId) -> None:
        self._folder.forget(conversation_id)
        self._contents.forget(conversation_id)
        self._keeper.note(conversation_id)

    async def _create(self, conversation: Conversation) -> None:
        await begun_in_thread(self._folder.create, conversation)
        self._keeper.note(ConversationId(conversation.conversation_id))

    async def _update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        async with self._writers.turn(conversation_id):
            updated = await begun_in_thread(self._folder.update, conversation_id, change)
        self._keeper.note(conversation_id)
        return updated


def _existing(root: Path) -> Path:
    """Return the folder, or its nearest ancestor that exists."""
    return next(path for path in (root, *root.parents) if path.is_dir())


def build(
    url: str,
    now: Callable[[], datetime],
    owner: str,
    *,
    encryption: "Encryption | None" = None,
    is_durable: bool = True,
    common: FileMemory | None = None,
) -> Store:
    """Make the store of the owner's folder below the one that the URL names."""
    return FileStore(
        home_for(url, owner), now=now, owner=owner, encryption=encryption, is_durable=is_durable, memory=common
    )
