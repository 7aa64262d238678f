"""The register of calls as small files in `.calls`. They are no truth: losing one can only cost a joined call."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from anyio import to_thread

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder, read_file, refuse_link, remove_dead_drafts, replace_file
from conversation_mcp.disk.locks import FileLock, LockFolder
from conversation_mcp.errors import FilesystemError, InvalidInputError
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.layout import CALLS
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call

FORGET_AFTER = timedelta(days=1)


class CallFiles:
    """A file for each call whose result was not delivered, named by the call; satisfies CallRegister."""

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self._folder = root / CALLS
        self._locks = LockFolder(self._folder)
        self._now = now

    async def find(self, key: str) -> Call | None:
        """Return the call of that name, unless it is forgotten or a day old."""
        return await to_thread.run_sync(self._find, self._folder / key)

    async def take(self, key: str) -> "tuple[HeldCall | None, Call | None]":
        """Lock the name, then read its file; the system gives the name back when this process dies."""
        return await to_thread.run_sync(self._take, key)

    async def claim(self, key: str, call: Call) -> None:
        """Write what the name stands for, in one step."""
        await to_thread.run_sync(self._replace, self._folder / key, call)

    async def forget(self, key: str, call: Call) -> None:
        """Remove the file of the call, if it is still that of this call."""
        await to_thread.run_sync(self._forget, self._folder / key, call)

    async def ask_to_stop(self, call: Call) -> None:
        """Leave a file for the process that runs the turn."""
        await to_thread.run_sync(self._replace, self._stop(call), call)

    async def is_asked_to_stop(self, call: Call) -> bool:
        """Tell whether the file is there and means this turn, and remove it."""
        return await to_thread.run_sync(self._is_asked_to_stop, self._stop(call), call)

    def forget_all(self, conversation_id: ConversationId) -> None:
        """Remove whatever names the conversation; blocks."""
        with explained(self._folder), suppress(FileNotFoundError):
            refuse_link(self._folder)
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if _names(Path(entry), conversation_id):
                        Path(entry).unlink(missing_ok=True)

    def _stop(self, call: Call) -> Path:
        return self._folder / f"{check_id(call.conversation_id)}.stop"

    def _is_asked_to_stop(self, path: Path, call: Call) -> bool:
        try:
            found = self._find(path)
        except FilesystemError:
            return False
        if found is not None:
            self._remove(path)
        return found == call

    def _take(self, key: str) -> "tuple[HeldCall | None, Call | None]":
        with explained(self._folder.parent):
            refuse_link(self._folder)
            make_private_folder(self._folder)
        lock = self._locks.try_lock(f".{key}.lock", lambda: None)
        held = None if lock is None else HeldCall(self._folder / f".{key}.lock", lock)
        try:
            return held, self._find(self._folder / key)
        except BaseException:
            if held is not None:
                held.give_back()
            raise

    def sweep(self) -> None:
        """Remove the drafts of killed processes, and what is as old as a call that is forgotten; blocks."""
        remove_dead_drafts(self._folder)
        oldest = (self._now() - FORGET_AFTER).timestamp()
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    with suppress(FilesystemError):  # nobody here has put it there
                        self._remove_free(Path(entry), oldest)

    def _remove_free(self, path: Path, oldest: float) -> None:
        """Remove a file of a name that nobody holds, if it is still that old, and the lock file of the name."""
        name = f".{path.name.removeprefix('.').removesuffix('.lock')}.lock"
        if lock := self._locks.try_lock(name, lambda: None):
            with suppress(OSError):
                if path.lstat().st_mtime < oldest:
                    self._remove(path)
            HeldCall(self._folder / name, lock).give_back()

    def _find(self, path: Path) -> Call | None:
        try:
            age = self._now().timestamp() - path.lstat().st_mtime
            data = cast("dict[str, str]", json.loads(read_file(path)))
            call = Call(check_id(data["conversationId"]), str(data["startedAt"]), bool(data.get("isTold")))
        except FileNotFoundError:
            return None
        except OSError as error:
            if path.is_symlink():  # nobody here has put it there
                self._remove(path)
                return None
            with explained(path):  # what cannot be read now may stand for a paid call
                raise error from None
        except (ValueError, KeyError, TypeError, RecursionError, InvalidInputError):
            self._remove(path)
            return None
        if age > FORGET_AFTER.total_seconds():
            self._remove(path)
            return None
        return call

    def _replace(self, path: Path, call: Call) -> None:
        with explained(path):
            refuse_link(self._folder)
            make_private_folder(self._folder)
            data = {"conversationId": call.conversation_id, "startedAt": call.started_at}
            data |= {"isTold": "yes"} if call.is_told else {}
            replace_file(path, json.dumps(data).encode(), is_durable=False)

    def _forget(self, path: Path, call: Call) -> None:
        with suppress(FilesystemError):  # it was delivered; that must not be hidden
            if self._find(path) == call:
                self._remove(path)

    def _remove(self, path: Path) -> None:
        with suppress(OSError):
            refuse_link(self._folder)
            path.unlink()


def _names(path: Path, conversation_id: ConversationId) -> bool:
    with suppress(OSError):
        return conversation_id in path.name or conversation_id.encode() in read_file(path)
    return False


class HeldCall:
    """A name that is in this process's hands; satisfies TurnLock. Its lock file goes with it."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self._path = path
        self._lock = lock

    async def release(self) -> None:
        """Give the name back, and remove its lock file first: whoever has opened that one opens the next."""
        await to_thread.run_sync(self.give_back)

    def give_back(self) -> None:
        """Do the same at once; it blocks for a moment."""
        with suppress(OSError):
            self._path.unlink()
        self._lock.release()
