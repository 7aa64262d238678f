"""Perplexity's Agent API: answers from the web, in seconds on a stream or in minutes as a background run."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

import anyio
from pydantic import SecretStr

from conversation_mcp.errors import ProviderError, ProviderUnavailableError, StreamBrokenError
from conversation_mcp.providers.base import Event, Finished, Mode, Progress, Request, Started, StillRunning
from conversation_mcp.providers.catalog import ProviderContext
from conversation_mcp.providers.http import LazyClient, Sent, Sleep
from conversation_mcp.providers.perplexity.api import AgentApi
from conversation_mcp.providers.perplexity.facts import FACTS, PROVIDER, Facts
from conversation_mcp.providers.perplexity.outcome import with_usage
from conversation_mcp.providers.perplexity.output import is_response_id
from conversation_mcp.providers.perplexity.request import Asked, Draft, draft, is_model, is_preset
from conversation_mcp.providers.perplexity.runs import Runs
from conversation_mcp.providers.perplexity.stream import StreamReader, incoming_events
from conversation_mcp.providers.wire.reading import raw_text_at

FORGOTTEN = Asked()


class PerplexityProvider:
    """Asks the Agent API; see `Provider` for what each method promises."""

    name = "perplexity"
    abilities: frozenset[Mode] = frozenset({"search", "deep_research", "chat"})

    def __init__(
        self,
        client: LazyClient,
        key: SecretStr,
        *,
        facts: Facts,
        base_url: str | None = None,
        retries: int = 0,
        sleep: Sleep = anyio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._facts = facts
        self._clock = clock
        self._api = AgentApi(client, facts, base_url=base_url, key=key, retries=retries, sleep=sleep)
        self._runs = Runs(self._api, facts, sleep=sleep, clock=clock)

    def serves(self, model: str) -> bool:
        """Tell whether this is a level, pinned or not, or has the form `provider/model`."""
        return is_preset(model, self._facts) or is_model(model)

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request once: a research as a background run, everything else on a stream."""
        run = self._research if request.mode == "deep_research" else self._stream
        async with aclosing(run(draft(request, self._facts))) as events:
            async for event in events:
                yield event

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        """Look once at a run; where only the look failed, the error does not end the run."""
        return await self._runs.look(response_id, FORGOTTEN)

    async def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Watch a run until it ends."""
        async with aclosing(self._runs.watch(response_id, FORGOTTEN)) as events:
            async for event in events:
                yield event

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        """Stop a run; raises RunCancelledError when that has shown, and returns its answer when it was faster."""
        return await self._runs.cancel(response_id, FORGOTTEN)

    async def check(self) -> str:
        """Have the models listed, which costs nothing and needs a key that works."""
        return f"{await self._api.count_models()} models"

    async def _stream(self, drafted: Draft) -> AsyncGenerator[Event]:
        async with aclosing(self._api.create(drafted)) as steps:
            async for step in steps:
                if isinstance(step, Progress):
                    yield step
                    continue
                async with aclosing(self._read(step, _with_notices(drafted.asked, step))) as events:
                    async for event in events:
                        yield event

    async def _read(self, sent: Sent, asked: Asked) -> AsyncGenerator[Event]:
        reader = StreamReader(asked)
        try:
            async with aclosing(incoming_events(sent.response, self._facts.timeouts, self._clock)) as incoming:
                async for data in incoming:
                    for event in reader.take(data):
                        yield event
                    if reader.ended:
                        return
            raise StreamBrokenError(f"{PROVIDER} broke off before the answer was complete.")
        except ProviderError as error:
            raise with_usage(error, reader.usage) from error.__cause__

    async def _research(self, drafted: Draft) -> AsyncGenerator[Event]:
        submitted_at = self._clock()
        asked = drafted.asked
        response_id = ""
        async with aclosing(self._api.create(drafted)) as steps:
            async for step in steps:
                if isinstance(step, Progress):
                    yield step
                else:
                    asked = _with_notices(asked, step)
                    response_id = raw_text_at(await self._api.created(step.response), "id")
        if not is_response_id(response_id):
            raise ProviderUnavailableError(f"{PROVIDER} started a run without an id.", maybe_billed=True)
        yield Started(response_id, background=True)
        async with aclosing(self._runs.watch(response_id, asked, submitted_at=submitted_at)) as events:
            async for event in events:
                yield event


def build(context: ProviderContext) -> PerplexityProvider | None:
    """Make the provider from the settings; None without a key."""
    settings = context.settings
    if settings.perplexity_api_key is None:
        return None
    return PerplexityProvider(
        context.client,
        settings.perplexity_api_key,
        facts=FACTS,
        base_url=settings.perplexity_base_url,
        retries=settings.retries,
    )


def _with_notices(asked: Asked, sent: Sent) -> Asked:
    return replace(asked, notices=(*sent.notices, *asked.notices))
