"""The adapter for the Interactions API: a question on a stream, or a research in the background."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from urllib.parse import quote

from conversation_mcp.errors import ConversationMCPError, ProviderError, ProviderUnavailableError, StreamBrokenError
from conversation_mcp.providers.base import Answer, Event, Finished, ListedModel, Progress, Request
from conversation_mcp.providers.interactions.models import counted_contents, listed_models
from conversation_mcp.providers.interactions.outcome import settle
from conversation_mcp.providers.interactions.problems import special_error
from conversation_mcp.providers.interactions.redirects import Redirects
from conversation_mcp.providers.interactions.request import InteractionDraft, draft
from conversation_mcp.providers.interactions.runs import READING
from conversation_mcp.providers.interactions.stream import StepReader
from conversation_mcp.providers.wire.bodies import UnreadableBodyError
from conversation_mcp.providers.wire.events import incoming, let_end
from conversation_mcp.providers.wire.http import Sent
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.json_values import JsonObject, count_at, raw_text_at
from conversation_mcp.providers.wire.names import model_of
from conversation_mcp.providers.wire.parts import drafted
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.providers.wire.run_provider import Creation, RunProvider
from conversation_mcp.providers.wire.usage import with_usage
from conversation_mcp.text import counted

PAGE_SIZE = 1000
MAX_PAGES = 20
LIST_SECONDS = 5
"""How long a question waits for the list of models, without which it is asked all the same."""


class InteractionsProvider(RunProvider):
    """Asks one configured provider; `Provider` documents the methods."""

    path = "interactions"
    reading = READING
    _listed: tuple[ListedModel, ...] | None = None

    def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request once: a deep research as a background run, everything else on a stream."""
        return self._guard.events(self._completing(self._ask(request)))

    async def list_models(self, within_seconds: float | None = None) -> tuple[ListedModel, ...]:
        """Return the models that can be asked, from all pages of the list."""
        found: list[ListedModel] = []
        token = ""
        for _ in range(MAX_PAGES):
            params = {"pageSize": str(PAGE_SIZE), **({"pageToken": token} if token else {})}
            body = await self._api.listing("models", within_seconds, params=params)
            found += listed_models(body)
            token = raw_text_at(body, "nextPageToken")
            if not token:
                break
        self._listed = tuple(model._replace(id=self._guard.clean(model.id)) for model in found)
        return self._listed

    async def check(self) -> str:
        """Return the number of models in words; listing them costs nothing and needs a valid key."""
        return counted(len(await self.list_models()), "model")

    async def count(self, request: Request) -> int:
        """Return the tokens of the request as the provider counts them, which costs nothing.

        Raises:
            ProviderError: the provider cannot be asked, or gives no number.
        """
        model = quote(model_of(request, self.configured), safe="")
        payload = await drafted(counted_contents, request)
        body = await self._api.call_free(f"models/{model}:countTokens", payload, "count the tokens")
        count = count_at(body, "totalTokens")
        if count is None:
            raise ProviderUnavailableError(f"{self._api.title} did not say how many tokens the request has.")
        return count

    async def _completed(self, answer: Answer) -> Answer:
        hosts = self.configured.definition.quirks.redirect_hosts
        if not hosts:
            return answer
        return answer._replace(sources=await Redirects(self._client, hosts).resolved(answer.sources))

    def _special_error(self, problem: WireProblem) -> ProviderError | None:
        return special_error(problem, self._api.errors, self._api.title)

    def _settle_forgotten(self, run: JsonObject, notices: tuple[str, ...]) -> Answer:
        return settle(run, Inquiry(self._api.title, secret=self._api.errors.secret).noting(notices))

    async def _ask(self, request: Request) -> AsyncGenerator[Event]:
        thinks = await self._thinks(model_of(request, self.configured))
        put = await drafted(partial(draft, configured=self.configured, thinks=thinks), request)
        inquiry = replace(put.inquiry, secret=self._api.errors.secret)
        if request.mode == "deep_research":
            run = self._started(self._put(put), lambda run, notices: settle(run, inquiry.noting(notices)))
        else:
            run = self._stream(self._put(put), inquiry)
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def _thinks(self, model: str) -> bool | None:
        """Tell whether the model thinks, as the provider's list says; None if it does not."""
        if self.configured.definition.is_agent(model):
            return None
        if self._listed is None:
            self._listed = ()  # asked for once: without it, the question itself shows what is wrong
            with suppress(ConversationMCPError):
                await self.list_models(LIST_SECONDS)
        return next((known.thinks for known in self._listed if known.id == model), None)

    async def _put(self, put: InteractionDraft) -> Creation:
        """Send the request; one that is refused for a field of thinking is sent again without it."""
        without: frozenset[str] = frozenset()
        notices: tuple[str, ...] = ()
        while True:
            refused = ""
            async with aclosing(self._api.create(self.path, put.payload(without))) as steps:
                async for step in steps:
                    if isinstance(step, Sent):
                        yield replace(step, notices=(*step.notices, *notices))
                    elif isinstance(step, Progress):
                        yield step
                    else:
                        refused = next((name for name in put.thinking if step.names(name) and name not in without), "")
                        if not refused:
                            raise self._api.errors.of_create(step)
            if not refused:
                return
            without |= {refused}
            again = f"{self._api.title} was asked again without {refused}, which {put.model} refused"
            notices = (*notices, f"{again}; nothing was billed for the first try.")

    async def _stream(self, creation: Creation, inquiry: Inquiry) -> AsyncGenerator[Event]:
        async with aclosing(creation) as steps:
            async for step in steps:
                if isinstance(step, Progress):
                    yield step
                    continue
                reader = StepReader(inquiry.noting(step.notices), self._api.errors)
                async with aclosing(self._read(step, reader)) as events:
                    async for event in events:
                        yield event

    async def _read(self, sent: Sent, reader: StepReader) -> AsyncGenerator[Event]:
        frames = incoming(sent.response, self._api.title, self._api.limits.timeouts, self._clock)
        try:
            async with aclosing(frames):
                async for frame in frames:
                    for event in reader.take(frame):
                        if isinstance(event, Finished):
                            await let_end(frames)
                        yield event
                    if reader.ended:
                        return
            for event in reader.finish():
                yield event
        except (UnreadableBodyError, ProviderError) as error:
            for event in reader.broken_off():
                yield event
            if isinstance(error, ProviderError):
                raise with_usage(error, reader.usage) from error.__cause__
            broken = StreamBrokenError(f"{self._api.title} {error}.")
            raise with_usage(broken, reader.usage) from None
