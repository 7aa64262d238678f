"""Running a question to its end, on a stream or in the background, whichever dialect of Responses it is put in."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from conversation_mcp.errors import ProviderError, ProviderUnavailableError, StreamBrokenError
from conversation_mcp.providers.base import Event, Finished, Progress, Started, StillRunning
from conversation_mcp.providers.responses.asked import Asked
from conversation_mcp.providers.responses.output import is_response_id
from conversation_mcp.providers.responses.runs import Runs
from conversation_mcp.providers.responses.stream import StreamReader
from conversation_mcp.providers.wire.api import Api
from conversation_mcp.providers.wire.bodies import UnreadableBodyError
from conversation_mcp.providers.wire.events import END, incoming
from conversation_mcp.providers.wire.guard import Guard
from conversation_mcp.providers.wire.http import Sent, Sleep
from conversation_mcp.providers.wire.json_values import JsonObject, raw_text_at
from conversation_mcp.providers.wire.problems import Problem
from conversation_mcp.providers.wire.usage import with_usage

Creating = AsyncGenerator[Progress | Sent]
"""A create call: what it says while it is put off, then its successful response."""


class Engine:
    """Carries questions out at one provider; `path` is where its runs are."""

    def __init__(self, api: Api, path: str, *, sleep: Sleep, clock: Callable[[], float]) -> None:
        self._api = api
        self._clock = clock
        self._runs = Runs(api, path, sleep=sleep, clock=clock)
        self._guard = Guard(api.errors.secret)
        self._forgotten = Asked(api.title, secret=api.errors.secret)

    def stream(self, asked: Asked, creating: Creating) -> AsyncGenerator[Event]:
        """Yield what happens while the answer is streamed."""
        return self._guard.events(self._stream(asked, creating))

    def research(self, asked: Asked, creating: Creating) -> AsyncGenerator[Event]:
        """Yield what happens until a run in the background ends; it goes on when nobody listens."""
        return self._guard.events(self._research(asked, creating))

    async def _stream(self, asked: Asked, creating: Creating) -> AsyncGenerator[Event]:
        asked = replace(asked, secret=self._api.errors.secret)
        async with aclosing(creating) as steps:
            async for step in steps:
                if isinstance(step, Progress):
                    yield step
                    continue
                async with aclosing(self._read(step, asked.noting(step.notices))) as events:
                    async for event in events:
                        yield event

    async def _research(self, asked: Asked, creating: Creating) -> AsyncGenerator[Event]:
        asked = replace(asked, secret=self._api.errors.secret)
        submitted_at = self._clock()
        response_id = ""
        async with aclosing(creating) as steps:
            async for step in steps:
                if isinstance(step, Progress):
                    yield step
                else:
                    asked = asked.noting(step.notices)
                    response_id = raw_text_at(await self._api.created(step.response), "id")
        if not is_response_id(response_id):
            raise ProviderUnavailableError(f"{self._api.title} started a run without an id.", maybe_billed=True)
        yield Started(response_id, background=True)
        async with aclosing(self._runs.watch(response_id, asked, submitted_at=submitted_at)) as events:
            async for event in events:
                yield event

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        """Look once at a run; where only the look failed, the error does not end the run."""
        return await self._looked(self._runs.look(response_id, self._forgotten))

    def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Watch a run until it ends."""
        return self._guard.events(self._runs.watch(response_id, self._forgotten))

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        """Stop a run; raises RunCancelledError when that has shown, and returns its answer when it was faster."""
        return await self._looked(self._runs.cancel(response_id, self._forgotten))

    async def _looked(self, looking: Awaitable[Finished | StillRunning]) -> Finished | StillRunning:
        try:
            return self._guard.look(await looking)
        except ProviderError as error:
            raise self._guard.error(error) from error.__cause__

    async def _read(self, sent: Sent, asked: Asked) -> AsyncGenerator[Event]:
        reader = StreamReader(asked)
        try:
            async with aclosing(
                incoming(sent.response, self._api.title, self._api.limits.timeouts, self._clock)
            ) as all_:
                async for data in all_:
                    if problem := self._problem(data):
                        raise self._error(problem, has_begun=reader.has_begun)
                    for event in reader.take(data):
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

    def _problem(self, data: JsonObject) -> Problem | None:
        """Return the problem that stands where an event or an answer was due."""
        what = data.get("object")
        is_due = what == "response" or (what != "error" and raw_text_at(data, "type") not in {"", "error"})
        return None if is_due or data is END else self._api.errors.problem_in(data)

    def _error(self, problem: Problem, *, has_begun: bool) -> ProviderError:
        errors = self._api.errors
        return errors.of_failure(problem) if has_begun else errors.of_body(problem)
