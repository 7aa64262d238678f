"""The register of calls as small files in `.calls`.

They are expendable: without one, a repeated call is a new question instead of joining the first.
"""

import json
import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from conversation_mcp.cancellation import in_thread
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder, read_file, refuse_link, remove_dead_drafts, replace_file
from conversation_mcp.disk.locks import FileLock, LockFolder
from conversation_mcp.errors import EncryptionKeyError, FilesystemError, InvalidInputError
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.layout import CALLS
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.ears import Ear, hear_nothing
from conversation_mcp.stores.files.vault import Vault

FORGET_AFTER = timedelta(days=1)
STOP = ".stop"
"""Ends the name of a wish to stop a turn."""
KEY = "key"
"""The field of the name of a call in an encrypted file, whose own name does not tell it."""


class CallFiles:
    """A file for each call whose result was not delivered, named after the call; satisfies CallRegister."""

    def __init__(self, root: Path, now: Callable[[], datetime], vault: Vault) -> None:
        self._folder = root / CALLS
        self._vault = vault
        self._locks = LockFolder(self._folder)
        self._now = now

    async def find(self, key: str) -> Call | None:
        """Return the call of that name, unless it was forgotten or is more than a day old."""
        return await in_thread(lambda: self._find(self._path(key)))

    async def take(self, key: str, planned: Call | None = None) -> "tuple[HeldCall | None, Call | None]":
        """Lock the name, then read its file, or write it; the system releases the name if this process dies."""
        return await in_thread(self._take, key, planned)

    async def claim(self, key: str, call: Call) -> None:
        """Write the file of the name, in one step."""
        await in_thread(lambda: self._replace(self._path(key), call, key))

    async def forget(self, key: str, call: Call) -> None:
        """Remove the file of the name, if it still stands for this call."""
        await in_thread(lambda: self._forget(self._path(key), call))

    async def ask_to_stop(self, call: Call) -> None:
        """Leave a file for the process that runs the turn."""
        await in_thread(self._replace, self._stop(call), call)

    def hear(self, key: str) -> AbstractContextManager[Ear]:
        """Hear nothing: whoever waits looks."""
        return hear_nothing(key)

    async def asked_to_stop(self, calls: Collection[Call]) -> list[Call]:
        """Return the turns whose files exist and mean them, and remove these files."""
        return await in_thread(lambda: [call for call in calls if self._is_asked_to_stop(call)])

    def forget_all(self, conversation_id: ConversationId) -> None:
        """Remove every file that names the conversation; blocks."""
        with explained(self._folder), suppress(FileNotFoundError):
            refuse_link(self._folder)
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if self._names(Path(entry), conversation_id):
                        Path(entry).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / self._vault.call_name(key)

    def _names(self, path: Path, conversation_id: ConversationId) -> bool:
        if conversation_id in path.name:
            return True
        with suppress(OSError, ValueError, EncryptionKeyError):
            return conversation_id.encode() in self._vault.open_call(str(path), read_file(path))
        return False

    def _stop(self, call: Call) -> Path:
        return self._folder / f"{check_id(call.conversation_id)}{STOP}"

    def _is_asked_to_stop(self, call: Call) -> bool:
        path = self._stop(call)
        try:
            found = self._find(path)
        except FilesystemError:
            return False
        if found is not None:
            self._remove(path)
        return found == call

    def _take(self, key: str, planned: Call | None) -> "tuple[HeldCall | None, Call | None]":
        with explained(self._folder.parent):
            refuse_link(self._folder)
            make_private_folder(self._folder)
        path = self._path(key)
        lock = self._locks.try_lock(f".{path.name}.lock", lambda: None)
        held = None if lock is None else HeldCall(self._folder / f".{path.name}.lock", lock)
        try:
            found = self._find(path)
            if held is not None and found is None and planned is not None:
                with explained(path):
                    self._write(path, planned, key)
        except BaseException:
            if held is not None:
                held.give_back()
            raise
        return held, found

    def sweep(self) -> None:
        """Remove the drafts of killed processes and the files of expired calls; blocks."""
        remove_dead_drafts(self._folder)
        oldest = (self._now() - FORGET_AFTER).timestamp()
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    with suppress(FilesystemError):  # a link or folder that this program did not make
                        self._remove_free(Path(entry), oldest)

    def _remove_free(self, path: Path, oldest: float) -> None:
        """Remove the file and the lock file of a name that no process holds, if the file is still that old."""
        name = f".{path.name.removeprefix('.').removesuffix('.lock')}.lock"
        if lock := self._locks.try_lock(name, lambda: None):
            with suppress(OSError):
                if path.lstat().st_mtime < oldest:
                    self._remove(path)
            HeldCall(self._folder / name, lock).give_back()

    def _find(self, path: Path) -> Call | None:
        try:
            age = self._now().timestamp() - path.lstat().st_mtime
            data = cast("dict[str, str]", json.loads(self._vault.open_call(str(path), read_file(path))))
            call = Call(check_id(data["conversationId"]), str(data["startedAt"]), bool(data.get("isTold")))
        except FileNotFoundError:
            return None
        except OSError as error:
            if path.is_symlink():  # this program does not make links
                self._remove(path)
                return None
            with explained(path):  # unlike a missing file, this one may stand for a paid call
                raise error from None
        except (ValueError, KeyError, TypeError, RecursionError, InvalidInputError):
            self._remove(path)
            return None
        if age > FORGET_AFTER.total_seconds():
            self._remove(path)
            return None
        return call

    def _replace(self, path: Path, call: Call, key: str = "") -> None:
        with explained(path):
            refuse_link(self._folder)
            make_private_folder(self._folder)
            self._write(path, call, key)

    def _write(self, path: Path, call: Call, key: str) -> None:
        data = {"conversationId": call.conversation_id, "startedAt": call.started_at}
        data |= {"isTold": "yes"} if call.is_told else {}
        # Not durable: a crash of the machine costs a joined call at most, an fsync would delay every question.
        stored = self._vault.seal_call(json.dumps({**data, KEY: key} if self._vault.is_sealing else data).encode())
        replace_file(path, stored, is_durable=False)

    def _forget(self, path: Path, call: Call) -> None:
        with suppress(FilesystemError):  # an error here must not replace the result, which was delivered
            if self._find(path) == call:
                self._remove(path)

    def _remove(self, path: Path) -> None:
        with suppress(OSError):
            refuse_link(self._folder)
            path.unlink()


class HeldCall:
    """A name that this process holds; satisfies TurnLock. Its lock file is removed with it."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self._path = path
        self._lock: FileLock | None = lock

    async def release(self) -> None:
        """Remove the lock file, then release the name: a process that has opened the old file then opens a new one."""
        await in_thread(self.give_back)

    def give_back(self) -> None:
        """Do the same without a thread; blocks for a moment."""
        lock, self._lock = self._lock, None
        if lock is not None:  # after the first release the file may belong to another holder
            with suppress(OSError):
                self._path.unlink()
            lock.release()
