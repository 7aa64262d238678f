"""The blocking half of the file store. Each method is called in a thread."""

import errno
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
from conversation_mcp.records.codec import MESSAGES, decode, origin_of, settle
from conversation_mcp.records.ids import SHAPE, check_id, id_at, milliseconds_of
from conversation_mcp.records.layout import EXPORT_STEM, FILE_NAME, FILES, LOCKS, UNWRITTEN
from conversation_mcp.records.models import Conversation, ConversationId, iso, parse_time
from conversation_mcp.records.origins import Origin
from conversation_mcp.stores.base import Change, Stamp

WRITE_WAIT_SECONDS = 30.0
STRAY_AFTER = timedelta(hours=1)
"""A reserved folder is filled within seconds; one that is still empty after this time was abandoned."""
HEAD_BYTES = 64 * 1024
IMPORT_LOCK = "import.lock"
OLD_AFTER = timedelta(minutes=1)


class ConversationFolder:
    """Conversations as `<root>/<id>/conversation.json`."""

    def __init__(self, root: Path, now: Callable[[], datetime], *, is_durable: bool) -> None:
        self._root = root
        self._now = now
        self._is_durable = is_durable
        self._locks = LockFolder(root / LOCKS)
        self._taken_milliseconds = range(0)

    def file(self, conversation_id: str) -> Path:
        """Return the path of a conversation's file. The id is checked first, so that it cannot leave the folder."""
        return self._root / check_id(conversation_id) / FILE_NAME

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
        with suppress(OSError):
            return origin_of(self._head(path))
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

    def update(self, conversation_id: ConversationId, change: Change) -> Conversation:
        """Change what is stored now, under the write lock."""
        path = self.file(conversation_id)
        require = partial(self.require, conversation_id)
        with self._locks.hold(f"{conversation_id}.write.lock", require, WRITE_WAIT_SECONDS):
            before = self._load(conversation_id)
            now = iso(self._now())
            latest = max(now, before.updated_at, key=parse_time)  # the clock may have been set back
            after, data = settle(change(before, now).changed(conversation_id=before.conversation_id, updated_at=latest))
            disk.remove_dead_drafts(path.parent)  # of a writer that was killed with this lock
            self._write(path, data)
        return after

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
        with self._locks.hold(IMPORT_LOCK, lambda: disk.make_private_folder(self._root), math.inf):
            yield

    def keep_export(self, conversation_id: ConversationId, ending: str, text: str) -> Path:
        """Write an export beside the file of its conversation."""
        path = self.file(conversation_id).with_name(f"{EXPORT_STEM}{ending}")
        with explained(path):
            disk.refuse_link(path)
            disk.replace_file(path, text.encode("utf-8", "replace"), is_durable=self._is_durable)
        return path

    def turn_is_held(self, conversation_id: ConversationId) -> bool:
        """Tell whether the turn lock is held by any live process."""
        return self._locks.is_locked(f"{check_id(conversation_id)}.lock")

    @contextmanager
    def reading(self, conversation_id: ConversationId) -> Generator[Path]:
        """Yield the path to read from, and translate errors of the block into ours."""
        path = self.file(conversation_id)
        with readable(path, conversation_id, self._root):
            yield path

    def _load(self, conversation_id: ConversationId) -> Conversation:
        with self.reading(conversation_id) as path:
            data = disk.read_file(path)
        return decode(data, str(path), conversation_id)

    def require(self, conversation_id: ConversationId) -> None:
        """Raise ConversationNotFoundError if there is no file."""
        if not self.exists(conversation_id):
            raise ConversationNotFoundError(conversation_id, str(self._root))

    def _require_folder(self, conversation_id: ConversationId) -> None:
        path = self.file(conversation_id).parent
        with explained(path, conversation_id):
            if not path.is_dir():
                raise ConversationNotFoundError(conversation_id, str(self._root))

    def _write(self, path: Path, data: bytes) -> None:
        if len(data) > disk.MAX_FILE_BYTES:
            problem = f"the conversation would be larger than the limit of {disk.MAX_FILE_BYTES >> 20} MiB"
            raise FilesystemError(str(path), problem, path.parent.name)
        with explained(path, path.parent.name):
            disk.replace_file(path, data, is_durable=self._is_durable)

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
        disk.make_private_folder(self._root)
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
    folder.rmdir()  # fails, as it should, if the folder holds anything else


@contextmanager
def readable(path: Path, conversation_id: ConversationId, root: Path) -> Generator[None]:
    """Translate errors of the block, which reads the file of a conversation in that folder, into ours."""
    with explained(path, conversation_id):
        try:
            yield
        except FileNotFoundError:
            raise ConversationNotFoundError(conversation_id, str(root)) from None
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            problem = f"is larger than the limit of {disk.MAX_FILE_BYTES >> 20} MiB"
            raise ConversationCorruptedError(str(path), problem, conversation_id) from None
