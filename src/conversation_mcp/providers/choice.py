"""Which provider answers: the one that was named, else the first that can. Never a silent substitution."""

from collections.abc import Callable, Iterable, Mapping

from anyio import to_thread

from conversation_mcp.errors import InvalidInputError, ProviderNotConfiguredError
from conversation_mcp.providers.base import Mode, Provider

DOING: Mapping[Mode, str] = {"search": "search", "deep_research": "do deep research", "chat": "chat"}
NEEDS_KEY = "Set PERPLEXITY_API_KEY, or leave model out."
HOW_TO_CONFIGURE = "Set PERPLEXITY_API_KEY, or start with --documents FOLDER to search your own files."


class Providers:
    """The configured providers, in the order of the catalog; built when the first question comes."""

    def __init__(self, build: Callable[[], Iterable[Provider]]) -> None:
        self._build = build
        self._built: tuple[Provider, ...] | None = None

    async def named(self, name: str | None) -> Provider | None:
        """Return the provider of that name, if it is configured."""
        return next((provider for provider in await self._all() if provider.name == name), None)

    async def choose(self, mode: Mode, model: str | None) -> Provider:
        """Return the provider for the model, or the first that has the mode.

        Raises:
            ProviderNotConfiguredError: none that is configured can do it.
            InvalidInputError: the model is nobody's.
        """
        able = [provider for provider in await self._all() if mode in provider.abilities]
        if not able:
            raise ProviderNotConfiguredError(f"no provider can {DOING[mode]}. {HOW_TO_CONFIGURE}")
        if model is None:
            return able[0]
        if provider := next((provider for provider in able if provider.serves(model)), None):
            return provider
        if model == "local":
            raise ProviderNotConfiguredError(
                "model 'local' asks your own files, and none are named. Start with --documents FOLDER."
            )
        if all(provider.name != "perplexity" for provider in able):
            raise ProviderNotConfiguredError(f"no configured provider has the model {model!r}. {NEEDS_KEY}")
        raise InvalidInputError(
            f"model must be a preset (fast, low, medium, high, xhigh), provider/model, or local; got {model!r}."
        )

    async def _all(self) -> tuple[Provider, ...]:
        if self._built is None:
            self._built = await to_thread.run_sync(lambda: tuple(self._build()))
        return self._built
