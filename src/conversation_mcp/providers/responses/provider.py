"""The adapter for the Responses API: a question on a stream, or as a background run that is found by its id."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from conversation_mcp.errors import ProviderError, StreamBrokenError
from conversation_mcp.providers.base import Answer, Event, Finished, Progress, Request
from conversation_mcp.providers.responses.outcome import settle
from conversation_mcp.providers.responses.request import draft
from conversation_mcp.providers.responses.runs import READING
from conversation_mcp.providers.responses.stream import StreamReader
from conversation_mcp.providers.wire.bodies import UnreadableBodyError
from conversation_mcp.providers.wire.events import END, incoming, let_end
from conversation_mcp.providers.wire.http import Sent
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.json_values import JsonObject, raw_text_at
from conversation_mcp.providers.wire.parts import drafted
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.providers.wire.run_provider import Creation, RunProvider
from conversation_mcp.providers.wire.usage import with_usage


class ResponsesProvider(RunProvider):
    """Asks one configured provider; `Provider` documents the methods."""

    path = "responses"
    reading = READING

    def _put(self, request: Request) -> tuple[Inquiry, Creation]:
        """Return what the answer needs to know of the question, and the create call; dialects override this.

        Raises:
            InvalidInputError: no model is named, and none is set.
        """
        inquiry, body = draft(request, self.configured)
        return inquiry, self._created(body)

    def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request once: a deep research as a background run, everything else on a stream."""
        return self._guard.events(self._research(request) if request.mode == "deep_research" else self._stream(request))

    def _settle_forgotten(self, run: JsonObject, notices: tuple[str, ...]) -> Answer:
        return settle(run, Inquiry(self._api.title, secret=self._api.errors.secret).noting(notices))

    async def _stream(self, request: Request) -> AsyncGenerator[Event]:
        inquiry, creation = await self._begun(request)
        async with aclosing(creation) as steps:
            async for step in steps:
                if isinstance(step, Progress):
                    yield step
                    continue
                async with aclosing(self._read(step, inquiry.noting(step.notices))) as events:
                    async for event in events:
                        yield event

    async def _research(self, request: Request) -> AsyncGenerator[Event]:
        inquiry, creation = await self._begun(request)
        started = self._started(creation, lambda run, notices: settle(run, inquiry.noting(notices)))
        async with aclosing(started) as events:
            async for event in events:
                yield event

    async def _begun(self, request: Request) -> tuple[Inquiry, Creation]:
        inquiry, creation = await drafted(self._put, request)
        return replace(inquiry, secret=self._api.errors.secret), creation

    async def _read(self, sent: Sent, inquiry: Inquiry) -> AsyncGenerator[Event]:
        reader = StreamReader(inquiry)
        try:
            async with aclosing(
                incoming(sent.response, self._api.title, self._api.limits.timeouts, self._clock)
            ) as all_:
                async for data in all_:
                    if problem := self._problem(data):
                        raise self._error(problem, has_begun=reader.has_begun)
                    for event in reader.take(data):
                        if isinstance(event, Finished):
                            await let_end(all_)
                        yield event
                    if reader.ended:
                        return
            raise StreamBrokenError(f"{self._api.title} broke off before the answer was complete.")
        except (UnreadableBodyError, ProviderError) as error:
            for event in reader.broken_off():
                yield event
            if isinstance(error, ProviderError):
                raise with_usage(error, reader.usage) from error.__cause__
            broken = StreamBrokenError(f"{self._api.title} {error}.")
            raise with_usage(broken, reader.usage) from None

    def _problem(self, data: JsonObject) -> WireProblem | None:
        """Return the problem that came in place of an event or an answer."""
        what = data.get("object")
        is_due = what == "response" or (what != "error" and raw_text_at(data, "type") not in {"", "error"})
        return None if is_due or data is END else self._api.errors.problem_in(data)

    def _error(self, problem: WireProblem, *, has_begun: bool) -> ProviderError:
        errors = self._api.errors
        return errors.of_failure(problem) if has_begun else errors.of_body(problem)
