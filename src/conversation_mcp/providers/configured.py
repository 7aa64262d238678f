"""Which providers are configured: what is known of them together with what is set."""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from conversation_mcp.settings import Settings

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Configured, Definition


@runtime_checkable
class Described(Protocol):
    """A provider that is made from a definition."""

    @property
    def configured(self) -> "Configured":
        """What it was made from."""
        ...


def definitions_in(settings: Settings) -> "dict[str, Definition]":
    """Return all definitions, the user's own among them.

    Raises:
        InvalidInputError: a table of the user's file is not what it must be.
    """
    from conversation_mcp.providers.definitions import load_definitions

    return load_definitions({name: given.extra for name, given in settings.providers.items() if given.extra})


def configured_in(settings: Settings) -> "dict[str, Configured]":
    """Return the providers that can be asked, by name, in the order in which names are looked for.

    Raises:
        InvalidInputError: a table of the user's file is not what it must be.
    """
    from conversation_mcp.providers.definitions import Given, resolved

    found: dict[str, Configured] = {}
    for name, definition in definitions_in(settings).items():
        given = settings.provider(name)
        own = Given(api_key=given.api_key, base_url=given.base_url, default_model=given.default_model)
        configured = resolved(definition, own)
        if configured is not None:
            found[name] = configured
    return found


def is_certain(configured: "Configured") -> bool:
    """Tell whether it is known to be there: a local server that nobody named shows only when it is asked."""
    return configured.definition.kind != "local" or configured.is_base_url_set
