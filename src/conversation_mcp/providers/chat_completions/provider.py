"""Whoever speaks chat completions: one answer on one stream, which nobody can look up again."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import anyio

from conversation_mcp.errors import ProviderError, ProviderTimeoutError, RunLostError, StreamBrokenError
from conversation_mcp.providers.base import Event, Finished, ListedModel, Mode, Progress, Request
from conversation_mcp.providers.catalog import ProviderContext
from conversation_mcp.providers.chat_completions.habits import Habits
from conversation_mcp.providers.chat_completions.reader import CompletionReader
from conversation_mcp.providers.chat_completions.request import Draft, draft
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.wire.api import Api
from conversation_mcp.providers.wire.bodies import UnreadableBodyError
from conversation_mcp.providers.wire.events import incoming
from conversation_mcp.providers.wire.guard import Guard
from conversation_mcp.providers.wire.http import Sent, Sleep
from conversation_mcp.providers.wire.limits import LIMITS, Limits
from conversation_mcp.providers.wire.names import serves
from conversation_mcp.providers.wire.problems import Problem

PATH = "chat/completions"


class ChatCompletionsProvider:
    """Asks one server of the family; see `Provider` for what each method promises."""

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
        definition = configured.definition
        self.configured = configured
        self.name = definition.name
        self.abilities: frozenset[Mode] = definition.abilities
        self._clock = clock
        self._api = Api(client, configured, limits, retries=retries, sleep=sleep)
        self._habits = Habits(definition.title, definition.quirks)

    def serves(self, model: str) -> bool:
        """Tell whether this is a name of the provider's, or may be one where any name is taken."""
        return serves(self.configured, model)

    def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request, and again only without a field whose refusal names it."""
        return Guard(self._api.errors.secret).events(self._ask(request))

    async def _ask(self, request: Request) -> AsyncGenerator[Event]:
        drafted = draft(request, self.configured)
        notices = (*drafted.notices, *self._habits.notices(drafted))
        async with aclosing(self._create(drafted)) as steps:
            async for step in steps:
                match step:
                    case Progress():
                        yield step
                    case Sent():
                        notices = (*step.notices, *notices)
                        reader = CompletionReader(self._api.title, drafted.model, self._api.errors, notices)
                        async with aclosing(self._read(step, reader)) as events:
                            async for event in events:
                                yield event
                    case str():
                        notices = (*notices, step)

    async def _create(self, drafted: Draft) -> AsyncGenerator[Progress | Sent | str]:
        """Yield what was learnt on the way, then the successful response."""
        lesson: str | None = ""
        while lesson is not None:
            lesson = None
            payload = self._habits.payload(drafted)
            async with aclosing(self._api.create(PATH, payload)) as steps:
                async for step in steps:
                    if not isinstance(step, Problem):
                        yield step
                        continue
                    lesson = self._habits.learn(drafted, payload, step)
                    if lesson is None:
                        raise self._api.errors.of_create(step)
                    yield lesson

    async def _read(self, sent: Sent, reader: CompletionReader) -> AsyncGenerator[Event]:
        frames = incoming(sent.response, self._api.title, self._api.limits.timeouts, self._clock)
        try:
            try:
                async with aclosing(frames):
                    async for frame in frames:
                        for event in reader.take(frame):
                            yield event
                        if reader.ended:
                            break
            except UnreadableBodyError as error:
                raise StreamBrokenError(f"{self._api.title} {error}.") from None
            except (StreamBrokenError, ProviderTimeoutError):
                if not reader.is_whole:
                    raise
            for event in reader.finish():
                yield event
        except ProviderError as error:
            for event in reader.broken_off():
                yield event
            raise reader.failed(error) from error.__cause__

    async def fetch(self, response_id: str) -> Finished:
        """Raise RunLostError: no server of this family keeps its answers."""
        del response_id
        raise RunLostError(self._api.title)

    async def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Raise as `fetch`."""
        yield await self.fetch(response_id)

    async def cancel(self, response_id: str) -> Finished:
        """Raise as `fetch`."""
        return await self.fetch(response_id)

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the models that the server says it has."""
        return await self._api.list_models()

    async def check(self) -> str:
        """Have the models listed, which costs nothing and needs a key that works."""
        return await self._api.check()


def build(context: ProviderContext, configured: Configured) -> ChatCompletionsProvider:
    """Make the provider from its definition and what the user set."""
    return ChatCompletionsProvider(configured, context.client, retries=context.settings.retries)
