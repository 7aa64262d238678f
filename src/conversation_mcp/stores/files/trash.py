"""The trash as folders in `.trash`, each named by the conversation's id and the millisecond of its deletion."""

import os
import shutil
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from conversation_mcp.cancellation import finish
from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.errors import ConversationNotFoundError, EncryptionKeyError, IdTakenError
from conversation_mcp.records.codec import decode
from conversation_mcp.records.ids import EPOCH, check_id, milliseconds_of
from conversation_mcp.records.layout import FILE_NAME, FILES, LOCKS, MARKS, TRASH, TRASHED
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.records.origins import OWN, mark_of
from conversation_mcp.stores.base import Trashed
from conversation_mcp.stores.files.calls import CallFiles
from conversation_mcp.stores.files.contents import WRITE_WAIT_SECONDS, ContentFiles, write_lock
from conversation_mcp.stores.files.folder import ConversationFolder
from conversation_mcp.stores.files.known import readable
from conversation_mcp.stores.files.marks import Marks
from conversation_mcp.stores.files.vault import Vault

T = TypeVar("T")


class TrashFiles:
    """Conversations in the trash, each moved as a whole folder in one step; satisfies Trash."""

    def __init__(
        self,
        root: Path,
        conversations: ConversationFolder,
        vault: Vault,
        calls: CallFiles,
        now: Callable[[], datetime],
        on_written: Callable[[ConversationId], None],
        *,
        is_durable: bool,
    ) -> None:
        self._root = root
        self._folder = root / TRASH
        self._conversations = conversations
        self._vault = vault
        self._calls = calls
        self._locks = LockFolder(root / LOCKS)
        self._marks = Marks(root / MARKS, is_durable=is_durable)
        self._now = now
        self._on_written = on_written
        self._is_durable = is_durable

    async def put(self, conversation_id: ConversationId, at: datetime | None = None) -> Trashed:
        """Move the folder of the conversation, under its write lock."""
        checked = check_id(conversation_id)
        return await finish(self._moved(checked, partial(self._put, checked, at)))

    async def entries(self) -> tuple[Trashed, ...]:
        """Return the entries that the names of the folders tell of."""
        return await to_thread.run_sync(self._entries)

    async def load(self, trashed: Trashed) -> Conversation:
        """Read the file in the trash."""
        return await to_thread.run_sync(self._load, trashed)

    async def contents(self, trashed: Trashed, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Read the contents beside the file in the trash."""
        folder = Path(trashed.location).parent / FILES
        contents = ContentFiles(self._folder, self._vault)
        return await to_thread.run_sync(contents.get_in, folder, trashed.conversation_id, hashes)

    async def restore(self, trashed: Trashed) -> None:
        """Move the folder back, under the write lock."""
        await finish(self._moved(trashed.conversation_id, partial(self._restore, trashed)))

    async def remove(self, trashed: Trashed) -> bool:
        """Remove the folder and all its files, then the calls and lock files of its id."""
        return await finish(self._moved(trashed.conversation_id, partial(self._remove, trashed)))

    async def marks(self) -> frozenset[str]:
        """Return the marks of what is in the trash, and of what was removed from it."""
        return await to_thread.run_sync(self._all_marks)

    async def _moved(self, conversation_id: ConversationId, step: Callable[[], T]) -> T:
        done = await to_thread.run_sync(step)
        self._on_written(conversation_id)
        return done

    def _put(self, conversation_id: ConversationId, at: datetime | None) -> Trashed:
        folder = self._conversations.file(conversation_id).parent
        require = partial(self._conversations.require, conversation_id)
        require()  # an existing lock file is no proof: it may have outlived its conversation
        with self._locked(conversation_id, require):
            require()  # again: another process may have moved it before this one got the lock
            disk.refuse_link(folder)
            disk.make_private_folder(self._folder)
            milliseconds = milliseconds_of(at or self._now())
            while os.path.lexists(target := self._folder / f"{conversation_id}.{milliseconds:013d}"):
                milliseconds += 1
            self._move(folder, target)
        return _trashed(target, conversation_id, milliseconds)

    def _entries(self) -> tuple[Trashed, ...]:
        found: list[Trashed] = []
        with explained(self._folder), suppress(FileNotFoundError):
            disk.refuse_link(self._folder)
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    name = TRASHED.fullmatch(entry.name)
                    if name and entry.is_dir(follow_symlinks=False):
                        found.append(_trashed(Path(entry), ConversationId(name[1]), int(name[2])))
        return tuple(sorted(found, key=lambda each: (each.deleted_at, each.conversation_id), reverse=True))

    def _load(self, trashed: Trashed) -> Conversation:
        path = Path(trashed.location)
        with readable(path, trashed.conversation_id, self._folder):
            disk.refuse_link(self._folder)
            data = self._vault.open(str(path), trashed.conversation_id, disk.read_file(path))
        return decode(data, str(path), trashed.conversation_id)

    def _restore(self, trashed: Trashed) -> None:
        source, target = Path(trashed.location), self._root / trashed.conversation_id
        with self._locked(trashed.conversation_id, lambda: None):
            if not source.exists():
                raise ConversationNotFoundError(trashed.conversation_id, str(self._folder))
            if os.path.lexists(target):
                raise IdTakenError(str(target), trashed.conversation_id)
            self._move(source.parent, target)

    def _remove(self, trashed: Trashed) -> bool:
        conversation_id, folder = trashed.conversation_id, Path(trashed.location).parent
        with self._locked(conversation_id, lambda: None):
            is_noted = True
            if os.path.lexists(folder):
                mark = self._mark_if_readable(trashed)
                # First the mark: a crash between the two must not leave a deletion that an import undoes.
                is_noted = bool(mark) and self._marks.add(mark)
                while os.path.lexists(folder):  # again if another process removed a file of it meanwhile
                    with suppress(FileNotFoundError):
                        shutil.rmtree(folder)
                is_noted = is_noted or (bool(mark) and self._marks.add(mark))  # the removal has freed space
            if self._is_durable:
                disk.sync_folder(self._root)
        # Outside of the lock, because its own file is among them.
        if not os.path.lexists(self._root / conversation_id):  # else they belong to its successor
            self._calls.forget_all(conversation_id)
            self._locks.remove(f"{conversation_id}.lock")
            self._locks.remove(write_lock(conversation_id))
        return is_noted

    def _mark(self, trashed: Trashed) -> str:
        return mark_of(self._conversations.origin(Path(trashed.location)) or (OWN, trashed.conversation_id))

    def _mark_if_readable(self, trashed: Trashed) -> str:
        """Return the mark; an empty text without the key, which nobody needs to have what is deleted removed."""
        try:
            return self._mark(trashed)
        except EncryptionKeyError:
            return ""

    def _all_marks(self) -> frozenset[str]:
        return self._marks.all() | {self._mark(trashed) for trashed in self._entries()}

    def _move(self, source: Path, target: Path) -> None:
        """Rename the folder durably: after a crash it has one of the two names."""
        disk.patiently(lambda: source.rename(target))
        if self._is_durable:  # the new name first: a crash between the two must not leave the folder without any
            disk.sync_folder(target.parent)
            disk.sync_folder(source.parent)

    @contextmanager
    def _locked(self, conversation_id: ConversationId, before_creating: Callable[[], object]) -> Generator[None]:
        """Keep writers and movers of the conversation out, and translate errors of the block into ours."""
        with explained(self._folder, conversation_id):
            disk.refuse_link(self._folder)
        with (
            self._locks.hold(write_lock(conversation_id), before_creating, WRITE_WAIT_SECONDS),
            explained(self._folder, conversation_id),
        ):
            yield


def _trashed(folder: Path, conversation_id: ConversationId, milliseconds: int) -> Trashed:
    deleted_at = iso(EPOCH + timedelta(milliseconds=milliseconds))
    return Trashed(conversation_id, deleted_at, str(folder / FILE_NAME))
