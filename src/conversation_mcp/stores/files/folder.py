"""The blocking half of the file store. Each method is called in a thread."""

import math
import os
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.locks import FileLock, LockFolder
from conversation_mcp.errors import ConversationCorruptedError, ConversationNotFoundError, FilesystemError
from conversation_mcp.owners import LOCAL
from conversation_mcp.records.codec import MESSAGES, origin_of, settle
from conversation_mcp.records.ids import SHAPE, check_id, id_at, milliseconds_of
from conversation_mcp.records.layout import EXPORT_STEM, FILE_NAME, FILES, KEY_FILE, LOCKS, UNWRITTEN
from conversation_mcp.records.models import Conversation, ConversationId, iso, parse_time
from conversation_mcp.records.origins import Origin
from conversation_mcp.stores.base import Change, Stamp
from conversation_mcp.stores.files.contents import WRITE_WAIT_SECONDS, write_lock
from conversation_mcp.stores.files.known import KnownFiles
from conversation_mcp.stores.files.memory import FileMemory
from conversation_mcp.stores.files.owners import claim
from conversation_mcp.stores.files.vault import MARK, SEEN_BYTES, PlainVault, Vault

STRAY_AFTER = timedelta(hours=1)
"""A reserved folder is filled within seconds; one that is still empty after this time was abandoned."""
HEAD_BYTES = 64 * 1024
IMPORT_LOCK = "import.lock"
OLD_AFTER = timedelta(minutes=1)


class ConversationFolder:
    """Conversations as `<root>/<id>/conversation.json`."""

    def __init__(
        self,
        root: Path,
        now: Callable[[], datetime],
        owner: str = LOCAL,
        vault: Vault | None = None,
        *,
        is_durable: bool,
        memory: FileMemory | None = None,
    ) -> None:
        self._root = root
        self._vault = vault or PlainVault(root)
        self._now = now
        self._owner = owner
        self._is_durable = is_durable
        self._locks = LockFolder(root / LOCKS)
        self._taken_milliseconds = range(0)
        self._known = KnownFiles(root, self._vault, (memory or FileMemory()).conversations)

    def file(self, conversation_id: str) -> Path:
        """Return the path of a conversation's file. The id is checked first, so that it cannot leave the folder."""
        return self._root.joinpath(check_id(conversation_id), FILE_NAME)

    def reserve(self, at: datetime | None = None) -> ConversationId:
        """Make the folder of a new conversation, and the root if there is none."""
        milliseconds = milliseconds_of(at or self._now())
        # Remember the ids taken last: a thousand conversations of one millisecond would each try all the others first.
        taken = self._taken_milliseconds
        first, free = (taken.start, taken.stop) if milliseconds in taken else (milliseconds, milliseconds)
        with explained(self._root):
            self._make_root()
            while not disk.claim_folder(self._root / id_at(free)):
                free += 1
        self._taken_milliseconds = range(first, free + 1)
        return id_at(free)

    def reserve_this(self, conversation_id: ConversationId) -> bool:
        """Make the folder of that name, and the root if there is none; return False if the name is taken."""
        folder = self.file(conversation_id).parent
        with explained(folder, conversation_id):
            self._make_root()
            return disk.claim_folder(folder)

    def unreserve(self, conversation_id: ConversationId) -> None:
        """Remove the folder of a conversation that was never written."""
        with suppress(OSError):
            _remove_unwritten(self.file(conversation_id).parent)

    def stamp(self, conversation_id: ConversationId | None) -> Stamp:
        """Return numbers that change with each write of the file, or with the folders in the root."""
        path = self._root if conversation_id is None else self.file(conversation_id)
        with explained(path, conversation_id), suppress(FileNotFoundError):
            found = path.stat()
            # A second folder within the resolution of the root's time still changes the number of its links.
            own = found.st_nlink if conversation_id is None else found.st_size
            return found.st_ino, found.st_mtime_ns, own
        return None

    def imports(self) -> dict[Origin, ConversationId]:
        """Return the ids of the conversations whose files name an origin."""
        found: dict[Origin, ConversationId] = {}
        with explained(self._root), suppress(FileNotFoundError), os.scandir(self._root) as entries:
            for entry in entries:
                if SHAPE.fullmatch(entry.name) and (origin := self.origin(self.file(entry.name))):
                    found[origin] = check_id(entry.name)
        return found

    def origin(self, path: Path) -> Origin | None:
        """Return the origin of an imported conversation, if its file can be read and names one."""
        try:
            head = self._head(path)
            if MARK in head[:SEEN_BYTES]:
                head = self._vault.open(str(path), path.parent.name.partition(".")[0], disk.read_file(path))
            return origin_of(head)
        except (OSError, ConversationCorruptedError):
            return None

    def create(self, conversation: Conversation) -> None:
        """Write the first state into the reserved folder; on failure, remove the folder."""
        path = self.file(conversation.conversation_id)
        if self.exists(conversation.conversation_id):
            raise FilesystemError(str(path), "there is a conversation already", conversation.conversation_id)
        try:
            with explained(path.parent, conversation.conversation_id):
                disk.refuse_link(path.parent)
            self._write(path, settle(conversation)[1])
            with suppress(OSError):  # without effect beside a conversation, and swept later
                path.with_name(UNWRITTEN).unlink()
            self._date(path, parse_time(conversation.updated_at))
            with explained(self._root, conversation.conversation_id):
                self._hide_from_git()
                if self._is_durable:  # the write made the file's name durable, not that of its folder
                    disk.sync_folder(self._root)
        except BaseException:  # a folder that stays without a file would pass for a reserved id
            with suppress(OSError):
                path.unlink(missing_ok=True)
                _remove_unwritten(path.parent)
            raise

    def exists(self, conversation_id: str) -> bool:
        """Tell whether the file exists, whatever it holds."""
        path = self.file(conversation_id)
        with explained(path, conversation_id):
            try:
                path.lstat()
            except FileNotFoundError:
                return False
        return True

    def load(self, conversation_id: ConversationId) -> Conversation:
        """Read the file, and parse it unless its bytes are those that were read or written last."""
        return self._known.read(self.file(conversation_id), conversation_id).conversation

    def forget(self, conversation_id: ConversationId) -> None:
        """Drop from memory what was read of a conversation."""
        self._known.forget(conversation_id)

    def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Change what is stored now, under the write lock."""
        path = self.file(conversation_id)
        require = partial(self.require, conversation_id)
        with self._locks.hold(write_lock(conversation_id), require, WRITE_WAIT_SECONDS):
            known = self._known.read(path, conversation_id)
            before, now = known.conversation, iso(self._now())
            latest = max(now, before.updated_at, key=parse_time)  # the clock may have been set back
            after = known.settled(
                change(before, now).changed(conversation_id=before.conversation_id, updated_at=latest)
            )
            disk.remove_dead_drafts(path.parent)  # of a writer that was killed with this lock
            self._known.keep(conversation_id, self._write(path, after.data), after)
        return after.conversation

    def names(self) -> list[str]:
        """Return the folders whose names are ids; none if the root cannot be read."""
        with suppress(OSError), os.scandir(self._root) as entries:
            return [entry.name for entry in entries if SHAPE.fullmatch(entry.name)]
        return []

    def sweep(self, names: Iterable[str]) -> None:
        """Remove from these folders what killed writes left, and folders in which nothing was ever written."""
        reserved_since = (self._now() - STRAY_AFTER).timestamp()
        for name in names:
            folder = self._root / name
            with suppress(OSError):
                disk.refuse_link(folder)
                is_old = folder.stat().st_mtime < reserved_since
                was_being_written = disk.remove_dead_drafts(folder)
                if not (folder / FILES).is_symlink():
                    disk.remove_dead_drafts(folder / FILES)
                if was_being_written or is_old:
                    _remove_unwritten(folder)

    def try_turn(self, conversation_id: ConversationId) -> FileLock | None:
        """Take the turn lock of a conversation that exists or is reserved, if it is free."""
        require = partial(self._require_folder, conversation_id)
        require()  # an existing lock file is no proof: it may have outlived its conversation
        return self._locks.try_lock(f"{conversation_id}.lock", require)

    @contextmanager
    def import_alone(self, on_wait: Callable[[], None]) -> Generator[None]:
        """Hold the lock of imports, waiting for it as long as necessary."""
        if self._locks.is_locked(IMPORT_LOCK):
            on_wait()
        with self._locks.hold(IMPORT_LOCK, self._make_root, math.inf):
            yield

    def keep_export(self, conversation_id: ConversationId, ending: str, text: str) -> Path:
        """Write an export beside the file of its conversation."""
        path = self.file(conversation_id).with_name(f"{EXPORT_STEM}{ending}")
        self._vault.refuse_plain(str(path))
        with explained(path):
            disk.refuse_link(path)
            disk.replace_file(path, text.encode("utf-8", "replace"), is_durable=self._is_durable)
        return path

    def turn_is_held(self, conversation_id: ConversationId) -> bool:
        """Tell whether the turn lock is held by any live process."""
        return self._locks.is_locked(f"{check_id(conversation_id)}.lock")

    def require(self, conversation_id: ConversationId) -> None:
        """Raise ConversationNotFoundError if there is no file."""
        if not self.exists(conversation_id):
            raise ConversationNotFoundError(conversation_id, str(self._root))

    def _require_folder(self, conversation_id: ConversationId) -> None:
        path = self.file(conversation_id).parent
        with explained(path, conversation_id):
            if not path.is_dir():
                raise ConversationNotFoundError(conversation_id, str(self._root))

    def _write(self, path: Path, data: bytes) -> bytes:
        """Write the file, and return its bytes."""
        folder = path.parent
        stored = self._vault.seal(folder, folder.name, data)
        if len(stored) > disk.MAX_FILE_BYTES:
            problem = f"the conversation would be larger than the limit of {disk.MAX_FILE_BYTES >> 20} MiB"
            raise FilesystemError(str(path), problem, folder.name)
        with explained(path, folder.name):
            disk.replace_file(path, stored, is_durable=self._is_durable)
        return stored

    def _date(self, path: Path, updated: datetime) -> None:
        """Give an imported file the time of its conversation: lists read the latest files first, and then stop."""
        if self._now() - updated > OLD_AFTER:
            with suppress(OSError, OverflowError):
                os.utime(path, (updated.timestamp(), updated.timestamp()))

    def _head(self, path: Path) -> bytes:
        """Return the file up to its messages, or all of it if they do not begin near the start as we write them."""
        with open(path, "rb", opener=disk.open_regular) as file:
            head = file.read(HEAD_BYTES)
            return head if MESSAGES in head else head + file.read()

    def _make_root(self) -> None:
        self._vault.require()
        disk.make_private_folder(self._root)
        claim(self._root, self._owner, is_durable=self._is_durable)
        self._hide_from_git()

    def _hide_from_git(self) -> None:
        path = self._root / ".gitignore"
        try:
            path.lstat()
        except FileNotFoundError:
            disk.replace_file(path, b"*\n", is_durable=self._is_durable)


def _remove_unwritten(folder: Path) -> None:
    """Remove a folder in which no conversation was ever written, with the contents that were put there for it."""
    disk.refuse_link(folder)
    marker = folder / UNWRITTEN
    if os.path.lexists(marker):
        if not os.path.lexists(folder / FILE_NAME):
            with suppress(FileNotFoundError):
                shutil.rmtree(folder / FILES)
        marker.unlink()
    if {entry.name for entry in folder.iterdir()} == {KEY_FILE}:  # nothing is left that it opens
        (folder / KEY_FILE).unlink()
    folder.rmdir()  # fails, as it should, if the folder holds anything else
