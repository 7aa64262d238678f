"""Background runs, which continue at the provider without a connection: how to look at, watch and stop them."""

import re
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass

from conversation_mcp.errors import ProviderTimeoutError, RunLostError
from conversation_mcp.providers.base import Answer, Event, Finished, Progress, StillRunning, TextDelta
from conversation_mcp.providers.wire.api import Api
from conversation_mcp.providers.wire.errors import UnseenError
from conversation_mcp.providers.wire.http import Sleep
from conversation_mcp.providers.wire.json_values import JsonObject, name_at

RESPONSE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")
Settle = Callable[[JsonObject, tuple[str, ...]], Answer]
"""Returns the answer of a run that has ended, with these notices in front; raises if there is none."""


@dataclass(frozen=True)
class RunReading:
    """How one wire tells the state of a run."""

    has_ended: Callable[[JsonObject], bool]
    doing: Callable[[JsonObject], str]
    """Returns what the run is doing, as a short phrase."""
    visible: Callable[[JsonObject], str]
    """Returns what can be shown of its text."""


def is_response_id(text: str) -> bool:
    """Tell whether this can be the id of a run. Nothing else becomes part of an address: files can be edited."""
    return RESPONSE_ID.fullmatch(text) is not None


def other_run(run: JsonObject, response_id: str) -> tuple[str, ...]:
    """Return a notice if the run that was fetched has another id than the requested one."""
    told = name_at(run, "id")
    if not told or told == response_id:
        return ()
    return (f"the run {response_id} answered as {told}; this may be the answer to another question",)


class Runs:
    """Watches runs by polling; `path` is the endpoint of runs, and the clock is monotonic."""

    def __init__(self, api: Api, path: str, reading: RunReading, *, sleep: Sleep, clock: Callable[[], float]) -> None:
        self._api = api
        self._path = path
        self._reading = reading
        self._polling = api.limits.polling
        self._limit_seconds = api.limits.timeouts.research_seconds
        self._sleep = sleep
        self._clock = clock

    async def look(self, response_id: str, settle: Settle) -> Finished | StillRunning:
        """Look once. Raises as `Provider.fetch`."""
        return self._outcome(await self._seen(response_id), settle, response_id)

    async def _seen(self, response_id: str) -> JsonObject:
        if not is_response_id(response_id):
            raise RunLostError(self._api.title)
        return await self._api.look(f"{self._path}/{response_id}")

    def _outcome(self, run: JsonObject, settle: Settle, response_id: str) -> Finished | StillRunning:
        """Return the state of the run with this id; raises if it ended without an answer."""
        if self._reading.has_ended(run):
            return Finished(settle(run, other_run(run, response_id))._replace(response_id=response_id))
        return StillRunning(self._reading.doing(run), self._reading.visible(run))

    async def watch(
        self, response_id: str, settle: Settle, *, submitted_at: float | None = None
    ) -> AsyncGenerator[Event]:
        """Yield the events until the run ends.

        A run that was submitted just now may not be known yet; `submitted_at` is the time of that, on the same clock.
        """
        view = _View(self._reading)
        started_at = self._clock()
        wait = self._polling.first_wait_seconds
        failures = 0
        if submitted_at is not None:
            await self._sleep(wait)
        while True:
            try:
                run = await self._seen(response_id)
            except (RunLostError, UnseenError, ProviderTimeoutError) as error:
                failures += 1
                if not self._may_pass(error, failures, submitted_at):
                    raise
            else:
                failures = 0
                for event in view.news(run):
                    yield event
                found = self._outcome(run, settle, response_id)
                if isinstance(found, Finished):
                    yield found
                    return
            if self._clock() - started_at > self._limit_seconds:
                raise self._api.errors.unseen_in_time("finish the run", self._limit_seconds)
            wait = min(wait * self._polling.growth, self._polling.max_wait_seconds)
            await self._sleep(wait)

    def _may_pass(self, error: Exception, failures: int, submitted_at: float | None) -> bool:
        if isinstance(error, RunLostError):  # a run that was just submitted may not be visible everywhere yet
            return submitted_at is not None and self._clock() - submitted_at <= self._polling.grace_seconds
        is_passing = not isinstance(error, UnseenError) or error.is_passing
        return is_passing and failures <= self._polling.max_failures

    async def cancel(self, response_id: str, settle: Settle) -> Finished | StillRunning:
        """Ask once to stop the run, unless it has ended, and wait a little for its last state."""
        found = await self.look(response_id, settle)
        if isinstance(found, Finished):
            return found
        await self._api.cancel(f"{self._path}/{response_id}/cancel")
        # A run that is told to stop is seen running for a few more looks.
        for _ in range(self._polling.cancel_looks):
            found = await self.look(response_id, settle)
            if isinstance(found, Finished):
                break
            await self._sleep(self._polling.cancel_wait_seconds)
        return found


class _View:
    """Remembers what was seen of a run, so that only changes are reported."""

    def __init__(self, reading: RunReading) -> None:
        self._reading = reading
        self._progress = ""
        self._text = ""

    def news(self, run: JsonObject) -> Iterator[Event]:
        if not self._reading.has_ended(run) and (progress := self._reading.doing(run)) != self._progress:
            self._progress = progress
            yield Progress(progress)
        text = self._reading.visible(run)
        if text != self._text:
            is_longer = text.startswith(self._text)  # if not, the provider has rewritten the text
            yield TextDelta(text.removeprefix(self._text) if is_longer else text, replaces=not is_longer)
            self._text = text
