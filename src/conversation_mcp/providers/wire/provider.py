"""The base class of all providers with an address, whatever their wire format."""

import time
from collections.abc import Callable, Mapping
from functools import cached_property

import anyio

from conversation_mcp.errors import ProviderError
from conversation_mcp.providers.base import ListedModel
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.wire.api import Api
from conversation_mcp.providers.wire.guard import Guard
from conversation_mcp.providers.wire.http import Sleep
from conversation_mcp.providers.wire.limits import LIMITS, Limits
from conversation_mcp.providers.wire.names import serves
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.records.modes import Mode


class WireProvider:
    """One configured provider. Subclasses of a family ask it; those of a dialect override the differences."""

    path = ""
    """The endpoint of its questions."""

    def __init__(
        self,
        configured: Configured,
        client: LazyClient,
        *,
        retries: int,
        limits: Limits = LIMITS,
        sleep: Sleep = anyio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.configured = self._addressed(configured)
        self.name = configured.definition.name
        self.abilities: frozenset[Mode] = configured.definition.abilities
        self._client = client
        self._limits = limits
        self._retries = retries
        self._sleep = sleep
        self._clock = clock

    @property
    def _headers(self) -> Mapping[str, str]:
        """The headers of every call, apart from the key."""
        return self.configured.definition.quirks.headers

    def _addressed(self, configured: Configured) -> Configured:
        """Return the provider with the address to which endpoints are appended."""
        return configured

    def _special_error(self, problem: WireProblem) -> ProviderError | None:
        """Return the error for a problem that only this provider has."""
        del problem

    def serves(self, model: str) -> bool:
        """Tell whether the name is one of this provider's, or the provider accepts any well-formed name."""
        return serves(self.configured, model)

    async def list_models(self, within_seconds: float | None = None) -> tuple[ListedModel, ...]:
        """Return the models that the provider lists; a local server at its usual address must answer at once."""
        return await self._api.list_models(within_seconds)

    async def check(self) -> str:
        """Return the number of models in words; listing them costs nothing and needs a valid key."""
        return await self._api.check()

    @cached_property
    def _api(self) -> Api:
        """The calls to its address."""
        return Api(
            self._client,
            self.configured,
            self._limits,
            retries=self._retries,
            sleep=self._sleep,
            headers=self._headers,
            special=self._special_error,
        )

    @cached_property
    def _guard(self) -> Guard:
        """Removes the key from everything that the provider sends."""
        return Guard(self._api.errors.secret)
