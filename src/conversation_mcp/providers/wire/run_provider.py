"""The base class of providers that keep runs, which anybody with the key finds by their ids."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from functools import cached_property
from typing import ClassVar

from conversation_mcp.errors import ProviderError, ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event, Finished, Progress, Started, StillRunning
from conversation_mcp.providers.wire.http import Sent
from conversation_mcp.providers.wire.json_values import JsonObject, raw_text_at
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.providers.wire.provider import WireProvider
from conversation_mcp.providers.wire.runs import RunReading, Runs, Settle, is_response_id

Creation = AsyncGenerator[Progress | Sent]
"""A create call: progress while it is delayed, then its successful response."""


class RunProvider(WireProvider, ABC):
    """Looks at, watches and stops runs by their ids; subclasses say how to read them."""

    reading: ClassVar[RunReading]

    @abstractmethod
    def _settle_forgotten(self, run: JsonObject, notices: tuple[str, ...]) -> Answer:
        """Return the answer of a run of which nothing but its id is known; as `Settle`."""

    async def _completed(self, answer: Answer) -> Answer:
        """Return the answer with what is looked up before it is kept."""
        return answer

    async def _completing(self, events: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
        async with aclosing(events):
            async for event in events:
                yield Finished(await self._completed(event.answer)) if isinstance(event, Finished) else event

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        """Look once at a run; if only the look failed, the error does not end the run."""
        return await self._looked(self._runs.look(response_id, self._settle_forgotten))

    def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Watch a run until it ends."""
        return self._guard.events(self._completing(self._runs.watch(response_id, self._settle_forgotten)))

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        """Stop a run; raises RunCancelledError once it has stopped, and returns the answer if that came first."""
        return await self._looked(self._runs.cancel(response_id, self._settle_forgotten))

    @cached_property
    def _runs(self) -> Runs:
        return Runs(self._api, self.path, self.reading, sleep=self._sleep, clock=self._clock)

    async def _looked(self, looking: Awaitable[Finished | StillRunning]) -> Finished | StillRunning:
        try:
            found = await looking
            if isinstance(found, Finished):
                found = Finished(await self._completed(found.answer))
            return self._guard.look(found)
        except ProviderError as error:
            raise self._guard.error(error) from error.__cause__

    async def _created(self, body: dict[str, object]) -> Creation:
        async with aclosing(self._api.create(self.path, body)) as steps:
            async for step in steps:
                if isinstance(step, WireProblem):
                    raise self._api.errors.of_create(step)
                yield step

    async def _started(self, creation: Creation, settle: Settle) -> AsyncGenerator[Event]:
        """Start a background run and watch it; it continues when nobody listens."""
        # By our own clock: the provider's `created_at` moves with each look.
        submitted_at = self._clock()
        response_id = ""
        repeated: tuple[str, ...] = ()
        async with aclosing(creation) as steps:
            async for step in steps:
                if isinstance(step, Progress):
                    yield step
                else:
                    repeated = step.notices
                    response_id = raw_text_at(await self._api.created(step.response), "id")
        if not is_response_id(response_id):
            raise ProviderUnavailableError(f"{self._api.title} started a run without an id.", maybe_billed=True)
        yield Started(response_id, background=True)

        def settled(run: JsonObject, notices: tuple[str, ...]) -> Answer:
            return settle(run, (*notices, *repeated))

        async with aclosing(self._runs.watch(response_id, settled, submitted_at=submitted_at)) as events:
            async for event in events:
                yield event
