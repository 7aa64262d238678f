"""The indexes, by name."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from pkgutil import resolve_name
from typing import cast

from conversation_mcp.stores.index.base import Describe, Index

MakeIndex = Callable[[Path, Path, Describe, Callable[[], datetime]], Index]

INDEXES = {"sqlite": "conversation_mcp.stores.index.sqlite:SqliteIndex"}


def make_index(name: str, folder: Path, indexes: Path, describe: Describe, now: Callable[[], datetime]) -> Index:
    """Make the index of that name for a folder; its files lie in a folder of their own below that of all indexes."""
    return cast("MakeIndex", resolve_name(INDEXES[name]))(folder, indexes, describe, now)
