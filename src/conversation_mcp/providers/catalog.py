"""The providers, by name. Adding one is a module and a line here; the first that can answer is the default."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, cast

from conversation_mcp.providers.base import Provider
from conversation_mcp.settings import Settings

if TYPE_CHECKING:
    from conversation_mcp.providers.http import LazyClient


@dataclass(frozen=True)
class ProviderContext:
    """What an adapter is built from."""

    settings: Settings
    client: "LazyClient"


BuildProvider = Callable[[ProviderContext], Provider | None]
"""Returns None when the provider is not configured."""

PROVIDERS = {
    "perplexity": "conversation_mcp.providers.perplexity.provider:build",
    "local": "conversation_mcp.providers.local.provider:build",
}


def build_providers(context: ProviderContext) -> Iterator[Provider]:
    """Yield the configured providers in the order of the catalog."""
    for target in PROVIDERS.values():
        build = cast("BuildProvider", resolve_name(target))
        if provider := build(context):
            yield provider
