"""The stores, by name. Adding one is a module and a line here; its contract suite runs because it is listed."""

from collections.abc import Callable
from datetime import datetime
from pkgutil import resolve_name
from typing import cast

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import OnWritten, Store

BuildStore = Callable[[Settings, Callable[[], datetime], OnWritten], Store]

STORES = {"files": "conversation_mcp.stores.files.store:build"}


def build_store(
    name: str, settings: Settings, now: Callable[[], datetime], on_written: OnWritten = lambda _: None
) -> Store:
    """Make the store of that name; `on_written` hears of each conversation that is written through it.

    Raises:
        InvalidInputError: there is none.
    """
    if name not in STORES:
        raise InvalidInputError(f"the store must be one of {', '.join(STORES)}; got {name!r}.")
    return cast("BuildStore", resolve_name(STORES[name]))(settings, now, on_written)
