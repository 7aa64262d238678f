"""The register of calls as small files in `.calls`. They are no truth: losing one can only cost a joined call."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import cast

from anyio import to_thread

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.disk import claim_folder, create_private, read_file, refuse_link
from conversation_mcp.stores.faults import explained
from conversation_mcp.stores.ids import check_id

FORGET_AFTER = timedelta(days=1)


class CallFiles:
    """A file for each call whose result was not delivered, named by the call; satisfies CallRegister."""

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self._folder = root / ".calls"
        self._now = now

    async def find(self, key: str) -> Call | None:
        """Return the call of that name, unless it is forgotten or a day old."""
        return await to_thread.run_sync(self._find, self._folder / key)

    async def claim(self, key: str, call: Call) -> bool:
        """Take the name, with what it stands for, in one step."""
        return await to_thread.run_sync(self._claim, self._folder / key, call)

    async def forget(self, key: str) -> None:
        """Remove the file of the call."""
        await to_thread.run_sync(self._remove, self._folder / key)

    async def ask_to_stop(self, call: Call) -> None:
        """Leave a file for the process that runs the turn."""
        await to_thread.run_sync(self._leave, self._stop(call), call)

    async def is_asked_to_stop(self, call: Call) -> bool:
        """Tell whether the file is there and means this turn, and remove it."""
        return await to_thread.run_sync(self._is_asked_to_stop, self._stop(call), call)

    def _stop(self, call: Call) -> Path:
        return self._folder / f"{check_id(call.conversation_id)}.stop"

    def _is_asked_to_stop(self, path: Path, call: Call) -> bool:
        found = self._find(path)
        if found is not None:
            self._remove(path)
        return found == call

    def _find(self, path: Path) -> Call | None:
        try:
            age = self._now().timestamp() - path.lstat().st_mtime
            data = cast("dict[str, str]", json.loads(read_file(path)))
            call = Call(check_id(data["conversationId"]), str(data["startedAt"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError, InvalidInputError):
            self._remove(path)
            return None
        if age > FORGET_AFTER.total_seconds():
            self._remove(path)
            return None
        return call

    def _claim(self, path: Path, call: Call) -> bool:
        with explained(path):
            refuse_link(self._folder)
            claim_folder(self._folder)
            draft = self._write(path.with_name(f".{token_hex(8)}.tmp"), call)
            try:
                path.hardlink_to(draft)
            except FileExistsError:
                return False
            finally:
                draft.unlink()
        return True

    def _leave(self, path: Path, call: Call) -> None:
        with explained(path):
            refuse_link(self._folder)
            claim_folder(self._folder)
            self._write(path.with_name(f".{token_hex(8)}.tmp"), call).replace(path)

    def _write(self, path: Path, call: Call) -> Path:
        data = {"conversationId": call.conversation_id, "startedAt": call.started_at}
        descriptor = create_private(path, os.O_WRONLY)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(json.dumps(data).encode())
        except OSError:
            self._remove(path)
            raise
        return path

    def _remove(self, path: Path) -> None:
        with suppress(OSError):
            refuse_link(self._folder)
            path.unlink()
