"""Keys and clients: whether a server started by a client will have the keys that it needs."""

import os
from collections.abc import Container, Iterable

from conversation_mcp.cli.clients.catalog import Client
from conversation_mcp.cli.clients.remote import AUTHORIZATION_VARIABLE, TOKEN_VARIABLE
from conversation_mcp.cli.configuration.values import Value, values_of
from conversation_mcp.providers.configuration import configured_in
from conversation_mcp.settings import LoadedSettings
from conversation_mcp.sources import config_path, provider_settings


def keys_of_shell(loaded: LoadedSettings) -> list[Value]:
    """Return the secrets that are set only in this shell's environment, which clients do not pass on."""
    return [value for value in values_of(loaded) if value.is_private and value.is_from_environment]


def lacking(loaded: LoadedSettings, client: Client, variables: Container[str]) -> Iterable[str]:
    """Yield why a server that the client starts with these variables could not answer."""
    if missing := [key for key in keys_of_shell(loaded) if key.origin not in variables]:
        names, settings = (
            " and ".join(texts) for texts in zip(*((key.origin, key.name) for key in missing), strict=True)
        )
        yield (
            f"{client.title} does not pass on your shell's {names}, so its server cannot use it. Put "
            f"{settings} into {config_path()} (`conversation-mcp config --write` creates it), or write it into the "
            "client's file too: --with-key"
        )
    elif not _can_answer(loaded, variables):
        keys = " or ".join(one.name for one in provider_settings() if one.is_suggested and one.field == "api_key")
        yield (
            f"no provider is configured, so the server will start and answer nothing. Put {keys} into "
            f"{config_path()}, or name documents with --documents"
        )


def _can_answer(loaded: LoadedSettings, variables: Container[str]) -> bool:
    settings = loaded.settings
    if settings.documents or any(given.is_certain for given in configured_in(settings).values()):
        return True
    return any(name in variables for setting in provider_settings() for name in setting.variables)


def lacking_token(client: Client, variables: Container[str]) -> Iterable[str]:
    """Yield why the client could not send a token to a remote server, as far as this shell tells."""
    is_bridged = AUTHORIZATION_VARIABLE in variables or "command" in client.remote["fields"]
    if not is_bridged and TOKEN_VARIABLE not in os.environ:
        yield f"{TOKEN_VARIABLE} is not set in this shell; {client.title} needs it when it starts"
