"""The conversion of the register of calls, whose files change their names with it."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.stores.conversion import Goal
from conversation_mcp.stores.files.calls import KEY, STOP
from conversation_mcp.stores.files.sealed import SealedVault
from conversation_mcp.stores.files.vault import is_sealed


class CallConversion:
    """Converts the files of calls. One that cannot be read is left: after a day it is removed anyway."""

    def __init__(self, folder: Path, vault: SealedVault) -> None:
        self._folder = folder
        self._vault = vault

    def count(self, goal: Goal) -> int:
        """Return how many there are to convert."""
        return sum(is_sealed(stored) == (goal == "decrypt") for _, stored in self._files())

    def encrypt(self) -> None:
        """Seal each, under a name that only the key can tell."""
        for path, stored in self._files():
            if not is_sealed(stored):
                is_stop = path.name.endswith(STOP)
                with suppress(ValueError, TypeError):
                    data: dict[str, Any] = {**json.loads(stored), **({} if is_stop else {KEY: path.name})}
                    target = path if is_stop else self._folder / self._vault.call_name(path.name)
                    self._move(path, target, self._vault.seal_call(json.dumps(data).encode()))

    def decrypt(self) -> None:
        """Open each, under its own name."""
        for path, stored in self._files():
            if is_sealed(stored):
                with suppress(ValueError, TypeError):
                    data: dict[str, Any] = json.loads(self._vault.open_call(str(path), stored))
                    name = data.pop(KEY, path.name)
                    self._move(path, self._folder / Path(name).name, json.dumps(data).encode())

    def _move(self, path: Path, target: Path, data: bytes) -> None:
        with explained(path):
            written = path.stat()
            disk.replace_file(target, data, is_durable=False)
            os.utime(target, ns=(written.st_atime_ns, written.st_mtime_ns))
            if target != path:
                path.unlink(missing_ok=True)

    def _files(self) -> Iterator[tuple[Path, bytes]]:
        with explained(self._folder), suppress(FileNotFoundError):
            disk.refuse_link(self._folder)
            for path in sorted(self._folder.iterdir()):
                if not path.name.startswith("."):
                    with suppress(OSError):
                        yield path, disk.read_file(path)
