"""The models that servers list, requested on demand and remembered for a while."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import anyio

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.base import ListedModel, ModelLister, Provider

WAIT_SECONDS = 0.5
REMEMBER_SECONDS = 60.0
RETRY_SECONDS = 5.0
"""How long a server that did not answer counts as absent."""

Listed = tuple[ListedModel, ...]


class Listings:
    """Asks servers for their models. One that does not answer within half a second counts as absent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, Listed | None]] = {}

    async def of(self, provider: Provider) -> Listed | None:
        """Return the models of one provider; None if it does not list them."""
        return (await self.of_all([provider]))[provider.name]

    async def of_all(self, providers: Iterable[Provider]) -> Mapping[str, Listed | None]:
        """Return the models of each provider; all are asked at once."""
        asked = list(providers)
        async with anyio.create_task_group() as tasks:
            for provider in asked:
                if not self._is_known(provider.name):
                    tasks.start_soon(self._ask, provider)
        return {provider.name: self._known[provider.name][1] for provider in asked}

    def _is_known(self, name: str) -> bool:
        if name not in self._known:
            return False
        asked_at, listed = self._known[name]
        return self._clock() - asked_at < (RETRY_SECONDS if listed is None else REMEMBER_SECONDS)

    async def _ask(self, provider: Provider) -> None:
        listed: Listed | None = None
        if isinstance(provider, ModelLister):
            with suppress(ConversationMCPError):
                listed = await provider.list_models(WAIT_SECONDS)
        self._known[provider.name] = (self._clock(), listed)
