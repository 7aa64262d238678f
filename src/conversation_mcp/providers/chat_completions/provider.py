"""The adapter for chat completions: one answer on one stream, which cannot be looked up again."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cached_property

from conversation_mcp.errors import ProviderError, ProviderTimeoutError, StreamBrokenError
from conversation_mcp.providers.base import Event, Progress, Request
from conversation_mcp.providers.chat_completions.habits import Habits
from conversation_mcp.providers.chat_completions.reader import CompletionReader
from conversation_mcp.providers.chat_completions.request import Draft, draft
from conversation_mcp.providers.wire.bodies import UnreadableBodyError
from conversation_mcp.providers.wire.events import incoming
from conversation_mcp.providers.wire.http import Sent
from conversation_mcp.providers.wire.parts import drafted
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.providers.wire.unkept_provider import UnkeptProvider


class ChatCompletionsProvider(UnkeptProvider):
    """Asks one server of the family; `Provider` documents the methods."""

    path = "chat/completions"

    @cached_property
    def _habits(self) -> Habits:
        """The lessons from this server's refusals; they last as long as the process."""
        return Habits(self._api.title, self.configured.definition.quirks)

    def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request; it is repeated only without a field that the refusal names."""
        return self._guard.events(self._ask(request))

    async def _ask(self, request: Request) -> AsyncGenerator[Event]:
        put = await drafted(lambda asked: draft(asked, self.configured), request)
        notices = (*put.notices, *self._habits.notices(put))
        async with aclosing(self._create(put)) as steps:
            async for step in steps:
                match step:
                    case Progress():
                        yield step
                    case Sent():
                        notices = (*step.notices, *notices)
                        reader = CompletionReader(self._api.title, put.model, self._api.errors, notices)
                        async with aclosing(self._read(step, reader)) as events:
                            async for event in events:
                                yield event
                    case str():
                        notices = (*notices, step)

    async def _create(self, put: Draft) -> AsyncGenerator[Progress | Sent | str]:
        """Yield the lessons as notices, then the successful response."""
        lesson: str | None = ""
        while lesson is not None:
            lesson = None
            payload = self._habits.payload(put)
            async with aclosing(self._api.create(self.path, payload)) as steps:
                async for step in steps:
                    if not isinstance(step, WireProblem):
                        yield step
                        continue
                    lesson = self._habits.learn(put, payload, step)
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
                if not reader.is_whole:  # a server may close without an end mark: nothing of the answer is missing
                    raise
            for event in reader.finish():
                yield event
        except ProviderError as error:
            for event in reader.broken_off():
                yield event
            raise reader.failed(error) from error.__cause__
