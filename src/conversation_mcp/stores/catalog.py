"""The stores, by the scheme of their URL. A new store is a package and a line here; the contract suites run on it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from conversation_mcp.errors import DatabaseError, InvalidInputError
from conversation_mcp.owners import LOCAL

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.sealing.keys import Encryption
    from conversation_mcp.stores.audit import AuditTrail
    from conversation_mcp.stores.base import Store
    from conversation_mcp.stores.conversion import Converter
    from conversation_mcp.stores.finder import Finder
    from conversation_mcp.stores.retention import Retention
    from conversation_mcp.stores.tables import Tables


class Common(Protocol):
    """What the stores of all owners have in common in this process: what was read last, or news of other processes."""

    def close(self) -> None:
        """End it; it may block for a moment."""
        ...


class Adapter(NamedTuple):
    """The names of five functions of a URL. The first two also take a clock and an owner, the fourth a clock.

    One makes only the finder of the owner's conversations, the other the whole store, and takes `is_durable`. The third
    yields the owners who have a place there; given an id, too, those who have or have reserved it. The fourth makes
    the audit trail, which all owners share; the last one the setting of how long each owner's conversations are kept.
    """

    finder: str
    store: str
    owners: str
    audit: str
    retention: str
    common: str | None = None
    """The name of a function of a URL that makes what the stores of all owners have in common; None if nothing.

    The second function of such a store also takes `common`.
    """
    tables: str | None = None
    """The name of a function of a URL that makes the tables; None for a store that has none."""
    extra: str | None = None
    """The extra of this package that it needs."""
    lifetime: timedelta | None = None
    """How long after its last write a conversation is forgotten unless it is said otherwise; None if it is kept.

    In a store that forgets, the second function also takes `lifetime`.
    """
    converter: str | None = None
    """The name of a function of a URL, an owner and an encryption that makes the converter.

    None for a store that cannot be encrypted; the functions of any other take `encryption`, too.
    """


STORES = {
    "file": Adapter(
        "conversation_mcp.stores.files.finder:build",
        "conversation_mcp.stores.files.store:build",
        "conversation_mcp.stores.files.owners:owners",
        "conversation_mcp.stores.files.audit:build",
        "conversation_mcp.stores.files.retention:build",
        common="conversation_mcp.stores.files.memory:build",
        converter="conversation_mcp.stores.files.conversion:build",
    ),
    "postgresql": Adapter(
        "conversation_mcp.stores.postgresql.finder:build",
        "conversation_mcp.stores.postgresql.store:build",
        "conversation_mcp.stores.postgresql.owners:owners",
        "conversation_mcp.stores.postgresql.audit:build",
        "conversation_mcp.stores.postgresql.retention:build",
        common="conversation_mcp.stores.postgresql.news:build",
        tables="conversation_mcp.stores.postgresql.tables:build",
        extra="postgres",
    ),
    "redis": Adapter(
        "conversation_mcp.stores.redis.finder:build",
        "conversation_mcp.stores.redis.store:build",
        "conversation_mcp.stores.redis.owners:owners",
        "conversation_mcp.stores.redis.audit:build",
        "conversation_mcp.stores.redis.retention:build",
        common="conversation_mcp.stores.redis.news:build",
        extra="redis",
        lifetime=timedelta(hours=3),
    ),
}
MIRROR = "conversation_mcp.stores.files.mirror:build"
"""The name of the function of a folder and an owner that makes a mirror."""
ALIASES = {"rediss": "redis", "valkey": "redis", "valkeys": "redis"}
"""Schemes of the URLs of a store that stands under another name."""


def open_finder(
    url: str, now: Callable[[], datetime], owner: str = LOCAL, *, encryption: "Encryption | None" = None
) -> "Finder":
    """Make the finder of an owner's conversations without the rest of the store, whose import would slow `list` down.

    Raises:
        InvalidInputError: there is no store for such a URL, or it cannot be encrypted.
    """
    adapter = _adapter(url)
    return _function(adapter, adapter.finder)(url, now, owner, **_sealing(adapter, encryption))


def open_store(
    url: str,
    now: Callable[[], datetime],
    owner: str = LOCAL,
    *,
    encryption: "Encryption | None" = None,
    is_durable: bool = True,
    timeout_hours: float | None = None,
    common: "Common | None" = None,
    mirror: "Path | None" = None,
) -> "Store":
    """Make the store of an owner's conversations, without opening anything yet.

    Unless it is durable, a write does not wait for the disk and may be lost when the computer crashes. A store that
    forgets does so that many hours after the last write. It shares what it has in `common` with the stores of
    other owners. With a folder for a mirror, the files of conversations are kept there, too.

    Raises:
        InvalidInputError: there is no store for such a URL, or it cannot be encrypted or mirrored.
    """
    if mirror is not None:
        store = open_store(
            url, now, owner, encryption=encryption, is_durable=is_durable, timeout_hours=timeout_hours, common=common
        )
        return mirrored(store, url, mirror, owner)
    adapter = _adapter(url)
    make, lifetime = _function(adapter, adapter.store), lifetime_in(url, timeout_hours)
    sealing: dict[str, object] = {**_sealing(adapter, encryption), **({"common": common} if common else {})}
    if lifetime is None:
        return make(url, now, owner, **sealing, is_durable=is_durable)
    return make(url, now, owner, **sealing, is_durable=is_durable, lifetime=lifetime)


def open_common(url: str) -> Common | None:
    """Make what the stores of all owners at that URL have in common; None if nothing.

    Raises:
        InvalidInputError: there is no store for such a URL.
    """
    adapter = _adapter(url)
    return _function(adapter, adapter.common)(url) if adapter.common else None


def can_be_encrypted(url: str) -> bool:
    """Tell whether a store of that URL can be encrypted."""
    return _adapter(url).converter is not None


def require_mirrorable(url: str) -> None:
    """Refuse a mirror of what is in files anyway, or is to be forgotten.

    Raises:
        InvalidInputError: there is no store for such a URL, or it is not mirrored.
    """
    if _adapter(url).lifetime is not None:
        raise InvalidInputError("this store forgets conversations, and a mirror folder would keep them.")
    if url.startswith("file:"):
        raise InvalidInputError("conversations are in files already; a mirror folder is for a database.")


def mirrored(store: "Store", url: str, folder: "Path", owner: str) -> "Store":
    """Return the store of that URL with a mirror of the owner's conversations below the folder; raises as above."""
    require_mirrorable(url)
    from conversation_mcp.stores.mirror import MirroredStore

    return cast("Store", MirroredStore(store, _function(STORES["file"], MIRROR)(folder, owner)))


def lifetime_in(url: str, timeout_hours: float | None) -> timedelta | None:
    """Return how long after its last write the store forgets a conversation; None if it keeps it.

    Raises:
        InvalidInputError: there is no store for such a URL.
    """
    lifetime = _adapter(url).lifetime
    return lifetime if lifetime is None or timeout_hours is None else timedelta(hours=timeout_hours)


def owners_in(url: str, conversation_id: "ConversationId | None" = None) -> Iterator[str]:
    """Yield the owners who have a place in the store, or who have or have reserved that id; it blocks.

    Raises:
        InvalidInputError: there is no store for such a URL.
        FilesystemError: the place cannot be read.
    """
    adapter = _adapter(url)
    return _function(adapter, adapter.owners)(url, conversation_id)


def open_audit(url: str, now: Callable[[], datetime]) -> "AuditTrail":
    """Make the audit trail of a store.

    Raises:
        InvalidInputError: there is no store for such a URL.
    """
    adapter = _adapter(url)
    return _function(adapter, adapter.audit)(url, now)


def open_retention(url: str) -> "Retention":
    """Make the setting of how long the conversations of each owner are kept.

    Raises:
        InvalidInputError: there is no store for such a URL.
    """
    adapter = _adapter(url)
    return _function(adapter, adapter.retention)(url)


def open_tables(url: str) -> "Tables":
    """Make the tables of a store that has some.

    Raises:
        InvalidInputError: there is no store for such a URL, or it has no tables.
    """
    adapter = _adapter(url)
    if adapter.tables is None:
        raise InvalidInputError("the store of conversations is no database, so it has no tables.")
    return _function(adapter, adapter.tables)(url)


def without_meaning(url: str) -> str | None:
    """Return why nothing is found by meaning in a store that could, and what helps; None if it is, or is not known."""
    adapter = _adapter(url)
    if adapter.tables is None:
        return None
    with suppress(DatabaseError):  # whoever asks next is told
        return open_tables(url).without_meaning()
    return None


def open_converter(url: str, owner: str, encryption: "Encryption") -> "Converter":
    """Make the converter of an owner's conversations.

    Raises:
        InvalidInputError: there is no store for such a URL, or it cannot be encrypted.
    """
    adapter = _adapter(url)
    return _function(adapter, _converter_of(adapter))(url, owner, encryption)


def _sealing(adapter: Adapter, encryption: "Encryption | None") -> "dict[str, Encryption]":
    if encryption is None:
        return {}
    _converter_of(adapter)
    return {"encryption": encryption}


def _converter_of(adapter: Adapter) -> str:
    if adapter.converter is None:
        raise InvalidInputError(
            "only conversations in files can be encrypted, and this store is another one. "
            "Take the encryption key out of the settings, or let the disk or the database encrypt."
        )
    return adapter.converter


def _function(adapter: Adapter, name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    try:
        return getattr(import_module(module), function)
    except ImportError as error:
        if adapter.extra is None:
            raise
        needed = f"pip install 'conversation-mcp[{adapter.extra}]'"
        raise InvalidInputError(f"this store needs a package that is not installed ({error}): {needed}.") from error


def _adapter(url: str) -> Adapter:
    scheme = url.partition(":")[0].lower()
    name = ALIASES.get(scheme, scheme)
    if name not in STORES:
        known = ", ".join(f"{each}:" for each in (*STORES, *ALIASES))
        raise InvalidInputError(f"the store must be a URL that begins with one of {known}; got {scheme!r}.")
    return STORES[name]
