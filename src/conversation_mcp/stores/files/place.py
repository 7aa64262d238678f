"""The folder that a URL such as `file:///home/me/conversations` names."""

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from conversation_mcp.errors import InvalidInputError


def folder_of(url: str) -> Path:
    """Return the folder.

    Raises:
        InvalidInputError: the URL names no absolute path on this machine.
    """
    parts = urlsplit(url)
    path = os.fsdecode(unquote_to_bytes(parts.path))
    if os.name == "nt":
        path = f"//{parts.netloc}{path}" if parts.netloc else path.removeprefix("/")
    elif parts.netloc not in ("", "localhost"):
        path = ""
    if not Path(path).is_absolute():
        raise InvalidInputError(f"the store must be file: and an absolute path, as file:///home/me/logs; got {url!r}.")
    return Path(path)
