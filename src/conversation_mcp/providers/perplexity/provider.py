"""Perplexity's Agent API: answers from the web, in seconds on a stream or in minutes as a background run."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

import anyio

from conversation_mcp import __version__
from conversation_mcp.errors import ProviderRejectedError
from conversation_mcp.providers.base import Event, Finished, ListedModel, Mode, Progress, Request, StillRunning
from conversation_mcp.providers.catalog import ProviderContext
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.perplexity.facts import FACTS, Facts
from conversation_mcp.providers.perplexity.request import Draft, PresetField, draft, is_model, is_preset
from conversation_mcp.providers.perplexity.retired import retirement
from conversation_mcp.providers.responses.engine import Engine
from conversation_mcp.providers.wire.api import Api
from conversation_mcp.providers.wire.http import Sent, Sleep
from conversation_mcp.providers.wire.limits import LIMITS, Limits
from conversation_mcp.providers.wire.problems import BAD_REQUEST, Problem

PATH = "agent"
VERSION = "/v1"


class PerplexityProvider:
    """Asks the Agent API; see `Provider` for what each method promises.

    It remembers which name the preset field has there.
    """

    def __init__(
        self,
        configured: Configured,
        client: LazyClient,
        *,
        retries: int,
        facts: Facts = FACTS,
        limits: Limits = LIMITS,
        sleep: Sleep = anyio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.configured = replace(configured, base_url=_versioned(configured.base_url))
        self.name = configured.definition.name
        self.abilities: frozenset[Mode] = configured.definition.abilities
        self._facts = facts
        self._api = Api(
            client,
            self.configured,
            limits,
            retries=retries,
            sleep=sleep,
            headers={"X-Pplx-Integration": f"conversation-mcp/{__version__}"},
            special=self._retired,
        )
        self._engine = Engine(self._api, PATH, sleep=sleep, clock=clock)
        self._preset_fields: tuple[PresetField, ...] = ("preset", "effort")

    def serves(self, model: str) -> bool:
        """Tell whether this is a preset, pinned or not, or has the form `provider/model`."""
        return is_preset(model, self.configured.definition) or is_model(model)

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request once: a research as a background run, everything else on a stream."""
        drafted = draft(request, self._facts, self.configured.definition)
        run = self._engine.research if request.mode == "deep_research" else self._engine.stream
        async with aclosing(run(drafted.asked, self._create(drafted))) as events:
            async for event in events:
                yield event

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        """Look once at a run; where only the look failed, the error does not end the run."""
        return await self._engine.fetch(response_id)

    def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Watch a run until it ends."""
        return self._engine.follow(response_id)

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        """Stop a run; raises RunCancelledError when that has shown, and returns its answer when it was faster."""
        return await self._engine.cancel(response_id)

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Have the models listed."""
        return await self._api.list_models()

    async def check(self) -> str:
        """Have the models listed, which costs nothing and needs a key that works."""
        return await self._api.check()

    async def _create(self, drafted: Draft) -> AsyncGenerator[Progress | Sent]:
        for preset_field in self._preset_fields:
            is_renamed = False
            async with aclosing(self._api.create(PATH, drafted.payload(preset_field))) as steps:
                async for step in steps:
                    if isinstance(step, Problem):
                        is_renamed = step.status == BAD_REQUEST and step.param == "preset" == preset_field
                        if not is_renamed:
                            raise self._api.errors.of_create(step)
                        continue
                    if isinstance(step, Sent) and drafted.asked.preset and preset_field == "effort":
                        self._preset_fields = ("effort",)
                    yield step
            if not is_renamed:
                return

    def _retired(self, problem: Problem) -> ProviderRejectedError | None:
        return retirement(problem, self._facts.retired, self.configured)


def build(context: ProviderContext, configured: Configured) -> PerplexityProvider:
    """Make the provider from the settings."""
    return PerplexityProvider(configured, context.client, retries=context.settings.retries)


def _versioned(base_url: str) -> str:
    return f"{base_url.removesuffix(VERSION).rstrip('/')}{VERSION}"
