"""The embedders that the settings allow: the bundled one, and models of configured providers."""

from functools import partial

from conversation_mcp.embeddings.catalog import Embedders, EmbeddingServer
from conversation_mcp.settings import Settings


def embedders_in(settings: Settings) -> Embedders:
    """Return the embedders; a server is asked only if the setting names it."""
    return Embedders(settings.embeddings, partial(_server_of, settings))


def _server_of(settings: Settings, choice: str) -> EmbeddingServer | None:
    """Return the server and model of a choice such as `name:model`, None if the provider is not configured."""
    from conversation_mcp.providers.configuration import configured_in
    from conversation_mcp.providers.sides import is_here

    provider, _, model = choice.partition(":")
    configured = configured_in(settings).get(provider)
    if configured is None or not model:
        return None
    key = configured.key.get_secret_value() if configured.key else None
    wire = configured.definition.embeddings
    return EmbeddingServer(provider, wire, configured.base_url, key, model, is_here(configured))
