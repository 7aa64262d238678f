"""The stores, by the scheme of their URL. A new store is a package and a line here; the contract suites run on it."""

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from conversation_mcp.errors import InvalidInputError

if TYPE_CHECKING:
    from conversation_mcp.stores.base import Store
    from conversation_mcp.stores.finder import Finder


class Adapter(NamedTuple):
    """The names of two functions of a URL and a clock: one makes only the finder, the other the whole store.

    The second one also takes `is_durable`.
    """

    finder: str
    store: str


STORES = {"file": Adapter("conversation_mcp.stores.files.finder:build", "conversation_mcp.stores.files.store:build")}


def open_finder(url: str, now: Callable[[], datetime]) -> "Finder":
    """Make the finder of a place without the rest of its store, whose import would slow `list` down.

    Raises:
        InvalidInputError: there is no store for such a URL.
    """
    return _function(_adapter(url).finder)(url, now)


def open_store(url: str, now: Callable[[], datetime], *, is_durable: bool = True) -> "Store":
    """Make the store of a place, without opening anything yet.

    Unless it is durable, a write does not wait for the disk and may be lost when the computer crashes.

    Raises:
        InvalidInputError: there is no store for such a URL.
    """
    return _function(_adapter(url).store)(url, now, is_durable=is_durable)


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _adapter(url: str) -> Adapter:
    scheme = url.partition(":")[0].lower()
    if scheme not in STORES:
        known = ", ".join(f"{name}:" for name in STORES)
        raise InvalidInputError(f"the store must be a URL that begins with one of {known}; got {scheme!r}.")
    return STORES[scheme]
