"""Ages of what is kept, in the files that name the owners; that of `local` is in the folder of all."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.records.layout import OWNER_FILE
from conversation_mcp.stores.files.owners import home_for, home_of, owners
from conversation_mcp.stores.files.place import folder_of
from conversation_mcp.stores.retention import Retention

FIELD = "keep"


class RetentionFiles:
    """A field beside the name of the owner; satisfies Retention."""

    def __init__(self, url: str) -> None:
        self._url = url

    def ages(self) -> Mapping[str, str]:
        """Read the files of all owners."""
        root = folder_of(self._url)
        found = ((owner, age_in(home_of(root, owner))) for owner in owners(self._url))
        return {owner: age for owner, age in found if age is not None}

    def put(self, owner: str, age: str | None) -> None:
        """Write the file of the owner."""
        home = home_for(self._url, owner)
        record = {"owner": owner, **({FIELD: age} if age is not None else {})}
        with explained(home):
            disk.make_private_folder(home)
            disk.replace_file(home / OWNER_FILE, f"{json.dumps(record, ensure_ascii=False, indent=2)}\n".encode())


def age_in(home: Path) -> str | None:
    """Return the age in the folder of an owner; None if there is none.

    Raises:
        FilesystemError: the file cannot be read.
    """
    path = home / OWNER_FILE
    with explained(path), suppress(FileNotFoundError, ValueError, TypeError, KeyError):
        age = json.loads(disk.read_file(path))[FIELD]
        return age if isinstance(age, str) else None
    return None


def build(url: str) -> Retention:
    """Return the ages of the owners below the folder that the URL names."""
    return RetentionFiles(url)
