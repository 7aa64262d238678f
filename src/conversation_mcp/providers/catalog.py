"""The providers, by name. Adding one is a module and a line here; the first that can answer is the default."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, cast

from platformdirs import user_cache_path

from conversation_mcp.clock import utc_now
from conversation_mcp.providers.base import Provider
from conversation_mcp.settings import Settings
from conversation_mcp.sources import APP_NAME

if TYPE_CHECKING:
    from conversation_mcp.providers.http import LazyClient


@dataclass(frozen=True)
class ProviderContext:
    """What an adapter is built from."""

    settings: Settings
    client: "LazyClient"
    cache: Path = field(default_factory=lambda: user_cache_path(APP_NAME, appauthor=False))
    """Where a provider may keep what can be made anew."""
    now: Callable[[], datetime] = utc_now


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
