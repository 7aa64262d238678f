"""Removing everything of an owner: folder, calls, limits, locks, marks, trash, and the indexes in the cache folder."""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.errors import FilesystemError
from conversation_mcp.owners import LOCAL
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.layout import CALLS, LIMITS, LOCKS, MARKS, OWNER_FILE, TRASH
from conversation_mcp.searching.database import IndexFile

OWN_NAMES = frozenset((CALLS, LIMITS, LOCKS, MARKS, OWNER_FILE, TRASH))
"""What `local` has in the root beside conversations; all else there belongs to everybody, or to another program."""
TRIES = 20


class OwnersPlace:
    """What there is of one owner, in the folder of the conversations and in that of the indexes. Every call blocks."""

    def __init__(self, root: Path, owner: str, indexes: Sequence[IndexFile]) -> None:
        self._root = root
        self._owner = owner
        self._indexes = indexes

    def remove(self) -> None:
        """Remove all of it. What ends early can be repeated: the name of the owner is the last to go.

        Raises:
            FilesystemError: something cannot be removed, or somebody goes on making conversations for this owner.
        """
        with explained(self._root):
            disk.refuse_link(self._root)
            for _ in range(TRIES):
                for path in self._belongings():
                    _remove(path)
                if self._is_gone():
                    break
            else:
                raise FilesystemError(str(self._root), "somebody goes on making conversations here; try again")
        # Only now: an index that is made from here on finds nothing.
        for index in self._indexes:
            index.remove()

    def traces(self) -> list[str]:
        """Return the paths that still belong to the owner, and of other files that name the owner's folder."""
        found = [str(path) for path in self._belongings()]
        if self._owner != LOCAL and os.path.lexists(self._root):
            found.append(str(self._root))
        found += [str(index.home) for index in self._indexes if os.path.lexists(index.home)]
        shared = {index.home.parent for index in self._indexes}
        name = os.fsencode(self._root.resolve())
        found += [str(path) for folder in shared for path in _naming(folder, name) if self._owner != LOCAL]
        return sorted(set(found))

    def _belongings(self) -> list[Path]:
        with suppress(FileNotFoundError), os.scandir(self._root) as entries:
            if self._owner == LOCAL:
                return [Path(each) for each in entries if each.name in OWN_NAMES or SHAPE.fullmatch(each.name)]
            return [Path(each) for each in entries if each.name != OWNER_FILE]
        return []

    def _is_gone(self) -> bool:
        if self._owner == LOCAL:
            return not self._belongings()
        (self._root / OWNER_FILE).unlink(missing_ok=True)
        try:
            self._root.rmdir()
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            return False  # a server has made something there meanwhile
        return True


def _remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it, even while another process removes parts of it."""
    while os.path.lexists(path):
        with suppress(FileNotFoundError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _naming(folder: Path, name: bytes) -> Iterator[Path]:
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file() and name in path.read_bytes():
                yield path
