"""The store that keeps each conversation as a JSON file of its own."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import aiofiles
import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from conversation_mcp.cancellation import finish
from conversation_mcp.disk.files import open_regular
from conversation_mcp.records.codec import decode
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.origins import Origin
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Change, OnWait, OnWritten, Stamp, Store
from conversation_mcp.stores.files.calls import CallFiles
from conversation_mcp.stores.files.folder import ConversationFolder
from conversation_mcp.stores.files.lines import Lines
from conversation_mcp.stores.files.trash import TrashFiles
from conversation_mcp.stores.files.turn_locks import HeldTurn, TurnLocks

PARSED_AT_ONCE_BYTES = 256 * 1024
SWEPT_AT_ONCE = 100
PAUSE_SECONDS = 0.05
"""Ten times as long as so many folders take."""


def _ignore(_conversation_id: ConversationId) -> None:
    """Hear of a write and do nothing."""


class FileStore:
    """Conversations in a folder, shared with every process that uses the same one; satisfies Store.

    `on_written` hears of each conversation that was created, updated or moved here; it must not block.
    """

    def __init__(self, folder: Path, *, now: Callable[[], datetime], on_written: OnWritten = _ignore) -> None:
        self._folder = ConversationFolder(folder.absolute(), now)
        self._writers = Lines()
        self._turns = TurnLocks(self._folder.try_turn)
        self._calls = CallFiles(folder.absolute(), now)
        self._trash = TrashFiles(folder.absolute(), self._folder, self._calls, now, on_written)
        self._on_written = on_written

    @property
    def calls(self) -> CallFiles:
        """The register of calls, in the same folder."""
        return self._calls

    @property
    def trash(self) -> TrashFiles:
        """The trash, in the same folder."""
        return self._trash

    def location(self, conversation_id: ConversationId) -> str:
        """Return the absolute path of the conversation's file."""
        return str(self._folder.file(conversation_id))

    async def reserve(self, at: datetime | None = None) -> ConversationId:
        """Make the folder of a new conversation."""
        return await to_thread.run_sync(self._folder.reserve, at)

    async def reserve_this(self, conversation_id: ConversationId) -> bool:
        """Make the folder of that name, unless there is one."""
        return await to_thread.run_sync(self._folder.reserve_this, conversation_id)

    async def unreserve(self, conversation_id: ConversationId) -> None:
        """Remove the folder if it is empty."""
        await to_thread.run_sync(self._folder.unreserve, conversation_id)

    async def create(self, conversation: Conversation) -> None:
        """Write the first state into the reserved folder; on failure the folder goes."""
        await finish(self._create(conversation))

    async def exists(self, conversation_id: ConversationId) -> bool:
        """Tell whether there is a file, whatever it holds."""
        return await to_thread.run_sync(self._folder.exists, conversation_id)

    async def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the file as it is now; takes no lock and leaves no trace."""
        loaded = await finish(self._load(conversation_id))
        await checkpoint_if_cancelled()
        return loaded

    async def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Replace the file by what the change makes of it; a caller who is cancelled meanwhile still waits for it."""
        updated = await finish(self._update(check_id(conversation_id), change))
        await checkpoint_if_cancelled()  # a turn that was stopped must not go on to ask
        return updated

    async def stamp(self, conversation_id: ConversationId | None) -> Stamp:
        """Return which file it is, of what time and size; of the folder, its time and how many folders it holds."""
        return await to_thread.run_sync(self._folder.stamp, conversation_id)

    async def changed_since(self, moment: datetime) -> tuple[ConversationId, ...]:
        """Return the conversations whose files are that young."""
        return await to_thread.run_sync(self._folder.changed_since, moment)

    async def imports(self) -> Mapping[Origin, ConversationId]:
        """Look into the beginning of each file; one that cannot be read is left out."""
        return await to_thread.run_sync(self._folder.imports)

    async def acquire_turn(self, conversation_id: ConversationId, wait_seconds: float, on_wait: OnWait) -> HeldTurn:
        """Wait for the turn lock; a wait of 0 s is a single try."""
        return await self._turns.acquire(check_id(conversation_id), wait_seconds, on_wait)

    async def turn_is_held(self, conversation_id: ConversationId) -> bool:
        """Tell whether a live process holds the turn lock; leaves no trace."""
        return await to_thread.run_sync(self._folder.turn_is_held, conversation_id)

    async def sweep(self) -> None:
        """Go through the folders, some at a time, so that a start is not slower and an end need not wait for it."""
        await to_thread.run_sync(self._calls.sweep)
        names = await to_thread.run_sync(self._folder.names)
        for start in range(0, len(names), SWEPT_AT_ONCE):
            await to_thread.run_sync(self._folder.sweep, names[start : start + SWEPT_AT_ONCE])
            await anyio.sleep(PAUSE_SECONDS)

    async def _create(self, conversation: Conversation) -> None:
        await to_thread.run_sync(self._folder.create, conversation)
        self._on_written(ConversationId(conversation.conversation_id))

    async def _load(self, conversation_id: ConversationId) -> Conversation:
        with self._folder.reading(conversation_id) as path:
            async with aiofiles.open(path, "rb", buffering=0, opener=open_regular) as file:
                data = await file.read()
        if len(data) <= PARSED_AT_ONCE_BYTES:
            return decode(data, str(path), conversation_id)
        return await to_thread.run_sync(decode, data, str(path), conversation_id)

    async def _update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        async with self._writers.turn(conversation_id):
            updated = await to_thread.run_sync(self._folder.update, conversation_id, change)
        self._on_written(conversation_id)
        return updated


def build(settings: Settings, now: Callable[[], datetime], on_written: OnWritten = _ignore) -> Store:
    """Make the store of the folder that the settings name."""
    return FileStore(settings.logs_dir, now=now, on_written=on_written)
