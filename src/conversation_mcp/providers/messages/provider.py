"""The adapter for the Messages API: a question is one call, and more only while its answer is paused."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property, partial
from typing import Any
from urllib.parse import quote

from conversation_mcp.errors import (
    ProviderError,
    ProviderQuotaError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    StreamBrokenError,
)
from conversation_mcp.providers.base import Event, Finished, ListedModel, Progress, Request, TextDelta
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.messages.abilities import UNKNOWN, ModelAbilities, abilities_of
from conversation_mcp.providers.messages.outcome import MAX_PAUSES, REFUSED, is_cut, settle
from conversation_mcp.providers.messages.reader import MessageReader
from conversation_mcp.providers.messages.request import MessageDraft, draft
from conversation_mcp.providers.wire.bodies import UnreadableBodyError
from conversation_mcp.providers.wire.events import incoming, let_end
from conversation_mcp.providers.wire.http import Sent
from conversation_mcp.providers.wire.json_values import count_at, objects_at, text_at
from conversation_mcp.providers.wire.models import listed_models
from conversation_mcp.providers.wire.names import model_of
from conversation_mcp.providers.wire.parts import drafted
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.providers.wire.unkept_provider import UnkeptProvider
from conversation_mcp.providers.wire.usage import with_usage
from conversation_mcp.text import counted

VERSION = "/v1"
WHOLE_LIST = {"limit": "1000"}
"""The largest page of the list of models, which has far fewer; without it, only the first twenty come."""
NO_CREDIT = ("credit balance is too low", "usage limits", "spend limit")
"""What a refusal says that is about money, though its type is that of a bad request."""


class MessagesProvider(UnkeptProvider):
    """Asks one server of the family; `Provider` documents the methods."""

    path = "messages"

    def _addressed(self, configured: Configured) -> Configured:
        """Return the provider with the version at the end of its address: the usual variable has it without."""
        return replace(configured, base_url=f"{configured.base_url.removesuffix(VERSION).rstrip('/')}{VERSION}")

    def _special_error(self, problem: WireProblem) -> ProviderError | None:
        """Return the error for an account without credit, which is refused as a bad request."""
        is_broke = any(words in problem.cause.lower() for words in NO_CREDIT)
        return ProviderQuotaError(self.configured.definition.title) if is_broke else None

    def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the question once; what came of a paused answer is sent back until the answer is complete."""
        return self._guard.events(self._ask(request))

    async def list_models(self, within_seconds: float | None = None) -> tuple[ListedModel, ...]:
        """Return the models of the provider, without those that are gone, and remember what they can do."""
        body = await self._api.listing("data", within_seconds, params=WHOLE_LIST)
        there = [entry for entry in objects_at(body, "data") if entry.get("lifecycle") != "retired"]
        self._known.update({text_at(entry, "id"): abilities_of(entry) for entry in there})
        return tuple(model._replace(id=self._guard.clean(model.id)) for model in listed_models({"data": there}))

    async def check(self) -> str:
        """Return the number of models in words; listing them costs nothing and needs a valid key."""
        return counted(len(await self.list_models()), "model")

    async def count(self, request: Request) -> int:
        """Return the tokens of the request as the provider counts them."""
        put = await self._draft(request)
        body = await self._api.call_free(f"{self.path}/count_tokens", put.countable, "count the tokens")
        tokens = count_at(body, "input_tokens")
        if tokens is None:
            raise ProviderUnavailableError(f"{self._api.title} did not say how many tokens the request has.")
        return tokens

    @cached_property
    def _known(self) -> dict[str, ModelAbilities]:
        """What the list says about the models that were asked; it lasts as long as the process."""
        return {}

    async def _abilities(self, model: str) -> ModelAbilities:
        if model not in self._known:
            entry = await self._api.hint(f"models/{quote(model, safe='')}")
            if not entry:
                return UNKNOWN
            self._known[model] = abilities_of(entry)
        return self._known[model]

    async def _draft(self, request: Request) -> MessageDraft:
        model = model_of(request, self.configured)
        abilities = await self._abilities(model)
        make = partial(draft, configured=self.configured, model=model, abilities=abilities)
        return await drafted(make, request)

    async def _ask(self, request: Request) -> AsyncGenerator[Event]:
        put = await self._draft(request)
        # One reader for all calls: the answer, its sources and its usage run on over the pauses.
        reader, body, notices = MessageReader(self._api.errors), put.body, put.notices
        try:
            for _ in range(MAX_PAUSES + 1):
                reader.begin()
                async with aclosing(self._call(body, reader)) as steps:
                    async for step in steps:
                        if isinstance(step, Sent):
                            notices = (*step.notices, *notices)
                        else:
                            yield step
                if not reader.is_paused:
                    break
                yield Progress("going on after a pause")
                # The API wants exactly this to go on: what came, unchanged, and no further words of the user.
                body = put.continued(reader.sendable())
            for rest in reader.rest(is_cut=is_cut(reader)):
                yield rest
            if reader.stop_reason == REFUSED:
                yield TextDelta("", replaces=True)  # what came before a refusal is not to be used
            yield Finished(settle(reader, put, self._api.title, notices, self._api.errors.secret))
        except ProviderError as error:
            for rest in reader.rest(is_cut=True):
                yield rest
            raise self._charged(error, reader) from error.__cause__

    def _charged(self, error: ProviderError, reader: MessageReader) -> ProviderError:
        """Return the error of a call with what the question cost, of which earlier calls are surely billed."""
        if reader.stop_reason == REFUSED:
            return error
        if reader.calls > 1 and error.is_free:
            error = ProviderUnavailableError(
                f"{self._api.title} paused the answer and did not go on: {error.message}", maybe_billed=True
            )
        return with_usage(error, reader.spending.usage)

    async def _call(self, body: dict[str, Any], reader: MessageReader) -> AsyncGenerator[Event | Sent]:
        async with aclosing(self._api.create(self.path, body)) as steps:
            async for step in steps:
                if isinstance(step, WireProblem):
                    raise self._api.errors.of_create(step)
                yield step
                if isinstance(step, Sent):
                    async with aclosing(self._read(step, reader)) as events:
                        async for event in events:
                            yield event

    async def _read(self, sent: Sent, reader: MessageReader) -> AsyncGenerator[Event]:
        frames = incoming(sent.response, self._api.title, self._api.limits.timeouts, self._clock)
        try:
            async with aclosing(frames):
                async for frame in frames:
                    for event in reader.take(frame):
                        yield event
                    if reader.ended:
                        await let_end(frames)
                        return
        except UnreadableBodyError as error:
            raise StreamBrokenError(f"{self._api.title} {error}.") from None
        except (StreamBrokenError, ProviderTimeoutError):
            if not reader.is_whole:  # nothing of the answer is missing
                raise
        if not reader.is_whole:
            raise StreamBrokenError(f"{self._api.title} broke off before the answer was complete.")
