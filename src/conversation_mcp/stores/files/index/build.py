"""The index of a folder of conversations, put together without the rest of the program: `list` cannot wait for that."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from platformdirs import user_cache_path

from conversation_mcp.records.facts import describe
from conversation_mcp.sources import APP_NAME
from conversation_mcp.stores.files.index.base import Index


def build_index(folder: Path, now: Callable[[], datetime]) -> Index:
    """Make the index of a folder, in the user's cache folder; nothing is opened yet."""
    from conversation_mcp.stores.files.index.sqlite import SqliteIndex

    indexes = user_cache_path(APP_NAME, appauthor=False) / "index"
    return SqliteIndex(folder.absolute(), indexes, describe, now)
