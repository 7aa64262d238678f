"""The base class of providers that keep no answers, so that none can be looked up again."""

from collections.abc import AsyncGenerator

from conversation_mcp.errors import RunLostError
from conversation_mcp.providers.base import Finished
from conversation_mcp.providers.wire.provider import WireProvider


class UnkeptProvider(WireProvider):
    """One configured provider, whose answers come on their stream or not at all."""

    async def fetch(self, response_id: str) -> Finished:
        """Raise RunLostError: the provider keeps no answers."""
        del response_id
        raise RunLostError(self._api.title)

    async def follow(self, response_id: str) -> AsyncGenerator[Finished]:
        """Raise as `fetch`."""
        yield await self.fetch(response_id)

    async def cancel(self, response_id: str) -> Finished:
        """Raise as `fetch`."""
        return await self.fetch(response_id)
