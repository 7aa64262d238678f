"""How much room the conversations of an owner take."""

import os
from contextlib import suppress
from pathlib import Path

from conversation_mcp.records.layout import AUDIT, OWNERS


def size_of(root: Path) -> int:
    """Return the bytes of all files of the owner of this folder, the trash included; it blocks."""
    total = 0
    folders = [str(root)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:  # what vanishes meanwhile takes no room
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in (OWNERS, AUDIT):
                        folders.append(entry.path)
                else:
                    with suppress(OSError):
                        total += entry.stat(follow_symlinks=False).st_size
    return total
