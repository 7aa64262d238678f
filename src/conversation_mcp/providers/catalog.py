"""The adapters, by family and dialect. A provider that differs only by data is a table in definitions.toml."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, cast

from platformdirs import user_cache_path

from conversation_mcp.clock import utc_now
from conversation_mcp.providers.base import Provider, Reader
from conversation_mcp.settings import Settings
from conversation_mcp.sources import APP_NAME

if TYPE_CHECKING:
    from conversation_mcp.providers.client import LazyClient


@dataclass(frozen=True)
class ProviderContext:
    """The common parts from which adapters are built."""

    settings: Settings
    client: "LazyClient"
    cache: Path = field(default_factory=lambda: user_cache_path(APP_NAME, appauthor=False))
    """A folder for data that a provider can derive again."""
    now: Callable[[], datetime] = utc_now
    has_work: Callable[[], object] = lambda: None
    """Called when there may be something to do in the background, such as vectors to make."""


BuildWired = Callable[..., Provider]
"""A subclass of `WireProvider`."""
BuildLocal = Callable[[ProviderContext], Reader | None]
"""Returns None if no files are named."""

WIRES = {
    "responses": "conversation_mcp.providers.responses.provider:ResponsesProvider",
    "chat_completions": "conversation_mcp.providers.chat_completions.provider:ChatCompletionsProvider",
    "messages": "conversation_mcp.providers.messages.provider:MessagesProvider",
    "interactions": "conversation_mcp.providers.interactions.provider:InteractionsProvider",
    "agent": "conversation_mcp.providers.perplexity.provider:PerplexityProvider",
}
"""Families and dialects, by their names in definitions. Adapters are named as text so that only used ones load."""
LOCAL = "local"
"""The provider without an address, which reads files; it comes after all others."""


def build_providers(context: ProviderContext) -> Iterator[Provider]:
    """Yield the configured providers in the order in which they are searched for a model's name.

    Raises:
        InvalidInputError: a setting of one of them is not valid.
    """
    from conversation_mcp.providers.configuration import configured_in

    for configured in configured_in(context.settings).values():
        target = WIRES[configured.definition.dialect or configured.definition.family]
        build = cast("BuildWired", resolve_name(target))
        yield build(configured, context.client, retries=context.settings.retries)
    if local := cast("BuildLocal", resolve_name("conversation_mcp.providers.local.provider:build"))(context):
        yield local
