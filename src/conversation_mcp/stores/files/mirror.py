"""The mirror of a store: a folder laid out like that of the file store, with conversations and their contents alone."""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.owners import LOCAL
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.layout import FILE_NAME
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.contents import ContentFiles
from conversation_mcp.stores.files.owners import claim, home_of
from conversation_mcp.stores.files.vault import PlainVault


class MirrorFolder:
    """Satisfies Mirror. The time of a conversation is that of its file."""

    def __init__(self, root: Path, owner: str) -> None:
        self._owner = owner
        self._home = home_of(root, owner)
        self._contents = ContentFiles(self._home, PlainVault(self._home), is_durable=False)

    @property
    def contents(self) -> ContentFiles:
        """The files and images that questions name, beside the file of their conversation."""
        return self._contents

    @property
    def place(self) -> str:
        """The path of the owner's folder."""
        return str(self._home)

    def write(self, conversation_id: ConversationId, body: bytes) -> None:
        """Replace the file in one step; nobody waits for the disk, because the mirror is caught up after a crash."""
        folder = self._home / conversation_id
        with explained(folder):
            if not folder.is_dir():
                disk.make_private_folder(self._home)
                claim(self._home, self._owner, is_durable=False)
                disk.make_private_folder(folder)
            disk.replace_file(folder / FILE_NAME, body, is_durable=False)
        self.date(conversation_id, 0)

    def date(self, conversation_id: ConversationId, milliseconds: int) -> None:
        """Set the time of the file."""
        path = self._home / conversation_id / FILE_NAME
        with explained(path):
            os.utime(path, ns=(milliseconds * 1_000_000, milliseconds * 1_000_000))

    def remove(self, conversation_id: ConversationId) -> None:
        """Remove the folder with all that is in it."""
        folder = self._home / conversation_id
        with explained(folder), suppress(FileNotFoundError):
            disk.refuse_link(folder)
            shutil.rmtree(folder)

    def times(self) -> Mapping[ConversationId, int]:
        """Ask the file system."""
        found: dict[ConversationId, int] = {}
        with explained(self._home), suppress(FileNotFoundError):
            for entry in os.scandir(self._home):
                if SHAPE.fullmatch(entry.name):
                    found[ConversationId(entry.name)] = _milliseconds(Path(entry.path) / FILE_NAME)
        return found

    def clear(self) -> None:
        """Remove the files, and the folder of an owner who has one of its own."""
        for conversation_id in self.times():
            self.remove(conversation_id)
        if self._owner != LOCAL:
            with explained(self._home), suppress(FileNotFoundError):
                shutil.rmtree(self._home)


def build(root: Path, owner: str) -> MirrorFolder:
    """Make the mirror of an owner below that folder."""
    return MirrorFolder(root, owner)


def _milliseconds(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return 0
