"""Every provider that speaks the Responses API: OpenAI, xAI, and the servers that people run themselves."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import anyio

from conversation_mcp.providers.base import Event, Finished, ListedModel, Mode, Progress, Request, StillRunning
from conversation_mcp.providers.catalog import ProviderContext
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.responses.engine import Engine
from conversation_mcp.providers.responses.request import draft
from conversation_mcp.providers.wire.api import Api
from conversation_mcp.providers.wire.http import Sent, Sleep
from conversation_mcp.providers.wire.limits import LIMITS, Limits
from conversation_mcp.providers.wire.names import serves
from conversation_mcp.providers.wire.problems import Problem

PATH = "responses"


class ResponsesProvider:
    """Asks one configured provider; see `Provider` for what each method promises."""

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
        self.configured = configured
        self.name = configured.definition.name
        self.abilities: frozenset[Mode] = configured.definition.abilities
        self._api = Api(client, configured, limits, retries=retries, sleep=sleep)
        self._engine = Engine(self._api, PATH, sleep=sleep, clock=clock)

    def serves(self, model: str) -> bool:
        """Tell whether the name is known here, or any name is taken."""
        return serves(self.configured, model)

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request once: a research as a background run, everything else on a stream."""
        asked, body = draft(request, self.configured)
        run = self._engine.research if request.mode == "deep_research" else self._engine.stream
        async with aclosing(run(asked, self._create(body))) as events:
            async for event in events:
                yield event

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        """Look once at a run in the background."""
        return await self._engine.fetch(response_id)

    def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Watch a run until it ends."""
        return self._engine.follow(response_id)

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        """Stop a run."""
        return await self._engine.cancel(response_id)

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Have the models listed; a local server that nobody named must answer at once."""
        return await self._api.list_models()

    async def check(self) -> str:
        """Have the models listed, which costs nothing and needs a key that works."""
        return await self._api.check()

    async def _create(self, body: dict[str, object]) -> AsyncGenerator[Progress | Sent]:
        async with aclosing(self._api.create(PATH, body)) as steps:
            async for step in steps:
                if isinstance(step, Problem):
                    raise self._api.errors.of_create(step)
                yield step


def build(context: ProviderContext, configured: Configured) -> ResponsesProvider:
    """Make the provider from the settings."""
    return ResponsesProvider(configured, context.client, retries=context.settings.retries)
