"""The register of calls as small files in `.calls`. They are no truth: losing one can only cost a joined call."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import cast

from anyio import to_thread

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.models import ConversationId
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.disk import claim_folder, create_private, read_file
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

    async def claim(self, key: str, conversation_id: ConversationId) -> bool:
        """Take the name, with what it stands for, in one step."""
        return await to_thread.run_sync(self._claim, self._folder / key, conversation_id)

    async def note(self, key: str, started_at: str) -> None:
        """Add when the question was put on disk."""
        await to_thread.run_sync(self._note, self._folder / key, started_at)

    async def forget(self, key: str) -> None:
        """Remove the file of the call."""
        await to_thread.run_sync(_remove, self._folder / key)

    async def ask_to_stop(self, conversation_id: ConversationId) -> None:
        """Leave a file for the process that runs the turn."""
        await to_thread.run_sync(self._leave, self._stop(conversation_id))

    async def is_asked_to_stop(self, conversation_id: ConversationId) -> bool:
        """Tell whether the file is there."""
        return await to_thread.run_sync(self._stop(conversation_id).exists)

    async def clear_stop(self, conversation_id: ConversationId) -> None:
        """Remove the file."""
        await to_thread.run_sync(_remove, self._stop(conversation_id))

    def _stop(self, conversation_id: ConversationId) -> Path:
        return self._folder / f"{check_id(conversation_id)}.stop"

    def _find(self, path: Path) -> Call | None:
        try:
            age = self._now().timestamp() - path.lstat().st_mtime
            data = cast("dict[str, str]", json.loads(read_file(path)))
            call = Call(check_id(data["conversationId"]), data.get("startedAt"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, InvalidInputError):
            _remove(path)
            return None
        if age > FORGET_AFTER.total_seconds():
            _remove(path)
            return None
        return call

    def _claim(self, path: Path, conversation_id: ConversationId) -> bool:
        with explained(path):
            claim_folder(self._folder)
            draft = self._write(path.with_name(f".{token_hex(8)}.tmp"), {"conversationId": conversation_id})
            try:
                path.hardlink_to(draft)
            except FileExistsError:
                return False
            finally:
                draft.unlink()
        return True

    def _note(self, path: Path, started_at: str) -> None:
        if call := self._find(path):
            with explained(path):
                draft = path.with_name(f".{token_hex(8)}.tmp")
                self._write(draft, {"conversationId": call.conversation_id, "startedAt": started_at}).replace(path)

    def _leave(self, path: Path) -> None:
        with explained(path), suppress(FileExistsError):
            claim_folder(self._folder)
            self._write(path, {})

    def _write(self, path: Path, data: Mapping[str, str]) -> Path:
        with os.fdopen(create_private(path, os.O_WRONLY), "wb") as file:
            file.write(json.dumps(data).encode())
        return path


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
