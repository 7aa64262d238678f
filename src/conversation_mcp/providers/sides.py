"""The side of each provider: whether the words that it is sent stay on this machine."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from conversation_mcp.providers.base import Provider, as_defined, as_reader
from conversation_mcp.providers.loopback import is_loopback
from conversation_mcp.providers.whereabouts import HERE, NOWHERE, OUTSIDE, Side, Whereabouts

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Configured


def side_of(provider: Provider, model: str | None = None) -> Side:
    """Return the side of the provider with this model; some local servers have some models run elsewhere."""
    if as_reader(provider):
        return HERE
    defined = as_defined(provider)
    if defined is None or not is_here(defined.configured):
        return OUTSIDE
    passed_on = defined.configured.definition.remote_models
    return OUTSIDE if any(fnmatchcase((model or "").casefold(), pattern) for pattern in passed_on) else HERE


def is_here(configured: "Configured") -> bool:
    """Tell whether a server is on this machine. A known service is not, even behind a gateway on a local address."""
    return not is_service(configured.definition.name) and is_loopback(configured.base_url)


def is_service(name: str) -> bool:
    """Tell whether this is the name of a provider that is a service outside this machine."""
    from conversation_mcp.providers.definitions import SHIPPED

    # By the shipped table, not the user's: a file cannot declare that a service is on this machine.
    return SHIPPED.get(name, {}).get("kind") in {"direct", "unified"}


def is_far(provider: Provider, whereabouts: Whereabouts) -> bool:
    """Tell whether the provider does not have the words yet; for words that never left, whether it is outside."""
    if whereabouts == NOWHERE:
        return False
    return side_of(provider) == OUTSIDE if whereabouts.is_kept_here else provider.name not in whereabouts.outside


def nearest_first(providers: Iterable[Provider], whereabouts: Whereabouts) -> list[Provider]:
    """Return the providers, first those that are not far."""
    return sorted(providers, key=lambda provider: is_far(provider, whereabouts))
