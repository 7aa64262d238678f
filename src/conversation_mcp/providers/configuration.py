"""The configured providers, and the advice if none is configured."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Settings
from conversation_mcp.sources import variable_of
from conversation_mcp.text import listed

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Configured, Definition


def definitions_in(settings: Settings) -> "dict[str, Definition]":
    """Return all definitions, including the user's own.

    Raises:
        InvalidInputError: a table of the user's file is not valid.
    """
    from conversation_mcp.providers.definitions import load_definitions

    return load_definitions({name: given.extra for name, given in settings.providers.items() if given.extra})


def configured_in(settings: Settings) -> "dict[str, Configured]":
    """Return the providers that can be asked, by name, in the order in which they are searched for a model's name.

    Raises:
        InvalidInputError: a table of the user's file is not valid.
    """
    from conversation_mcp.providers.definitions import Given, resolved

    found: dict[str, Configured] = {}
    for name, definition in definitions_in(settings).items():
        given = settings.provider(name)
        own = Given(given.api_key, given.base_url, given.default_model, given.api_version)
        configured = resolved(definition, own)
        if configured is not None:
            found[name] = configured
    return found


def is_known_preset(provider: str, name: str) -> bool:
    """Tell whether this is a preset in the shipped definition of the provider; it may end with a version."""
    from conversation_mcp.providers.definitions import SHIPPED

    table = SHIPPED.get(provider, {})
    return name.partition("@")[0] in (*table.get("presets", ()), *table.get("other_presets", ()))


def suggested_keys(mode: Mode, definitions: "Iterable[Definition]") -> list[str]:
    """Return the variables of the keys that are suggested if no provider can be asked."""
    return [one.key_variable for one in definitions if mode in one.suggested_for and one.needs_key]


def how_to_configure(mode: Mode, definitions: "Mapping[str, Definition]") -> str:
    """Return the sentence that says how to configure a provider for the mode."""
    keys = suggested_keys(mode, definitions.values())
    key = keys[0] if len(keys) == 1 else f"a key such as {listed(keys, 'or')}"
    servers = [one.title for one in definitions.values() if mode in one.suggested_for and not one.needs_key]
    server = f"start a local server such as {listed(servers, 'or')}" if servers else ""
    own_files = f"{variable_of('documents')} to search your own files"
    return f"Set {key}, or {server or own_files}."
