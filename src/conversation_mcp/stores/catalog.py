"""The stores, by name. Adding one is a module and a line here; its contract suite runs because it is listed."""

from collections.abc import Callable
from datetime import datetime
from pkgutil import resolve_name
from typing import cast

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store

BuildStore = Callable[[Settings, Callable[[], datetime]], Store]

STORES = {"files": "conversation_mcp.stores.files:build"}


def build_store(name: str, settings: Settings, now: Callable[[], datetime]) -> Store:
    """Make the store of that name.

    Raises:
        InvalidInputError: there is none.
    """
    if name not in STORES:
        raise InvalidInputError(f"the store must be one of {', '.join(STORES)}; got {name!r}.")
    return cast("BuildStore", resolve_name(STORES[name]))(settings, now)
