"""The folders of owners: that of `local` is the root, the others are in `.owners`, each with the owner's name in it."""

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.errors import FilesystemError
from conversation_mcp.owners import LOCAL
from conversation_mcp.records.layout import OWNER_FILE, OWNERS
from conversation_mcp.stores.files.place import folder_of

SLUG_CHARS = 40
HASH_CHARS = 12
UNPLAIN = re.compile(r"[^a-z0-9]+")


def home_of(root: Path, owner: str) -> Path:
    """Return the folder of the owner's conversations. The hash tells apart what a file system or an eye would not."""
    if owner == LOCAL:
        return root
    plain = unicodedata.normalize("NFKD", owner).encode("ascii", "ignore").decode().lower()
    slug = UNPLAIN.sub("-", plain)[:SLUG_CHARS].strip("-") or "owner"
    return root / OWNERS / f"{slug}-{hashlib.sha256(owner.encode()).hexdigest()[:HASH_CHARS]}"


def home_for(url: str, owner: str) -> Path:
    """Return the folder of the owner's conversations below the one that the URL names; raises as `require`."""
    home = home_of(folder_of(url), owner)
    if owner != LOCAL:
        require(home, owner)
    return home


def claim(home: Path, owner: str, *, is_durable: bool) -> None:
    """Write the owner's name into the folder, which exists.

    Raises:
        FilesystemError: it belongs to another owner, or cannot be read or written.
    """
    if owner == LOCAL or require(home, owner):
        return
    with explained(home):
        record = json.dumps({"owner": owner}, ensure_ascii=False, indent=2)
        disk.replace_file(home / OWNER_FILE, f"{record}\n".encode(), is_durable=is_durable)


def require(home: Path, owner: str) -> bool:
    """Tell whether the folder names the owner already.

    Raises:
        FilesystemError: it names another owner, whose name has the same hash, or nobody that can be read.
    """
    path = home / OWNER_FILE
    with explained(path):
        try:
            named = owner_in(path)
        except FileNotFoundError:
            return False
    if named != owner:
        raise FilesystemError(str(path), "names another owner than the one whose folder this is")
    return True


def owner_in(path: Path) -> str | None:
    """Return the name in the file of an owner; None if there is none. Raises OSError."""
    with suppress(ValueError, TypeError, KeyError):
        named = json.loads(disk.read_file(path))["owner"]
        return named if isinstance(named, str) else None
    return None


def owners(url: str, conversation_id: str | None = None) -> Iterator[str]:
    """Yield the owners that have a folder below the one that the URL names, or that id in it, `local` first.

    Raises:
        FilesystemError: the folder cannot be read.
    """
    root = folder_of(url)
    below = conversation_id or ""
    if (root / below).is_dir():
        yield LOCAL
    with explained(root / OWNERS), suppress(FileNotFoundError), os.scandir(root / OWNERS) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            with suppress(OSError):
                if below and not os.path.isdir(os.path.join(entry.path, below)):  # noqa: PTH112, PTH118 -- of thousands
                    continue
                named = owner_in(Path(entry.path) / OWNER_FILE)
                if named is not None and home_of(root, named).name == entry.name:
                    yield named
