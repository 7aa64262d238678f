"""The adapter for chat completions: one answer on one stream, which cannot be looked up again."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from functools import cached_property
from urllib.parse import quote

from conversation_mcp.errors import ConversationMCPError, ProviderError, ProviderTimeoutError, StreamBrokenError
from conversation_mcp.providers.base import Event, ListedModel, Progress, Request
from conversation_mcp.providers.chat_completions.habits import Habits
from conversation_mcp.providers.chat_completions.reader import CompletionReader
from conversation_mcp.providers.chat_completions.request import Draft, draft
from conversation_mcp.providers.wire.bodies import UnreadableBodyError
from conversation_mcp.providers.wire.events import incoming, let_end
from conversation_mcp.providers.wire.http import Sent
from conversation_mcp.providers.wire.names import model_of
from conversation_mcp.providers.wire.parts import drafted
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.providers.wire.roles import SystemRole
from conversation_mcp.providers.wire.unkept_provider import UnkeptProvider

LIST_SECONDS = 5
"""How long a question waits for the list of models, without which it is asked all the same."""


class ChatCompletionsProvider(UnkeptProvider):
    """Asks one server of the family; `Provider` documents the methods."""

    path = "chat/completions"
    _listed: tuple[ListedModel, ...] | None = None

    @cached_property
    def _habits(self) -> Habits:
        """The lessons from this server's refusals; they last as long as the process."""
        return Habits(self._api.title, self.configured.definition.quirks)

    def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request; it is repeated only without a field that the refusal names."""
        return self._guard.events(self._ask(request))

    async def list_models(self, within_seconds: float | None = None) -> tuple[ListedModel, ...]:
        """Return the models of the provider, and remember what its list says of them."""
        self._listed = await super().list_models(within_seconds)
        return self._listed

    def _path_of(self, model: str) -> str:
        path = self.configured.definition.quirks.path
        return self.path if path is None else path.replace("{model}", quote(model, safe=""))

    async def _system_role(self, model: str) -> SystemRole | None:
        """Return the role of the system message for a model that takes none, where the provider's list says so."""
        if not self.configured.definition.quirks.lists_system:
            return None
        if self._listed is None:
            self._listed = ()  # asked for once: without it, the question itself shows what is wrong
            with suppress(ConversationMCPError):
                await self.list_models(LIST_SECONDS)
        return "user" if any(known.id == model and known.takes_system is False for known in self._listed) else None

    async def _ask(self, request: Request) -> AsyncGenerator[Event]:
        role = await self._system_role(model_of(request, self.configured))
        put = await drafted(lambda asked: draft(asked, self.configured, role), request)
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
            async with aclosing(self._api.create(self._path_of(put.model), payload)) as steps:
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
                            await let_end(frames)
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
