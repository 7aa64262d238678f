"""Background runs, which continue at the provider without a connection: how to look at, watch and stop them."""

from collections.abc import AsyncGenerator, Callable, Iterator

from conversation_mcp.errors import ProviderTimeoutError, RunLostError
from conversation_mcp.providers.base import Event, Finished, Progress, StillRunning, TextDelta
from conversation_mcp.providers.responses.inquiry import Inquiry
from conversation_mcp.providers.responses.outcome import has_ended, other_run, settle
from conversation_mcp.providers.responses.output import answer_text, is_response_id, page_count, reading
from conversation_mcp.providers.wire.api import Api
from conversation_mcp.providers.wire.errors import UnseenError
from conversation_mcp.providers.wire.http import Sleep
from conversation_mcp.providers.wire.json_values import JsonObject, objects_at
from conversation_mcp.providers.wire.visible_text import visible_so_far


class Runs:
    """Watches runs by polling; `path` is the endpoint of runs, and the clock is monotonic."""

    def __init__(self, api: Api, path: str, *, sleep: Sleep, clock: Callable[[], float]) -> None:
        self._api = api
        self._path = path
        self._polling = api.limits.polling
        self._limit_seconds = api.limits.timeouts.research_seconds
        self._sleep = sleep
        self._clock = clock

    async def look(self, response_id: str, inquiry: Inquiry) -> Finished | StillRunning:
        """Look once. Raises as `Provider.fetch`."""
        return outcome(await self._seen(response_id), inquiry, response_id)

    async def _seen(self, response_id: str) -> JsonObject:
        if not is_response_id(response_id):
            raise RunLostError(self._api.title)
        return await self._api.look(f"{self._path}/{response_id}")

    async def watch(
        self, response_id: str, inquiry: Inquiry, *, submitted_at: float | None = None
    ) -> AsyncGenerator[Event]:
        """Yield the events until the run ends.

        A run that was submitted just now may not be known yet; `submitted_at` is the time of that, on the same clock.
        """
        view = _View()
        started_at = self._clock()
        wait = self._polling.first_wait_seconds
        failures = 0
        if submitted_at is not None:
            await self._sleep(wait)
        while True:
            try:
                response = await self._seen(response_id)
            except (RunLostError, UnseenError, ProviderTimeoutError) as error:
                failures += 1
                if not self._may_pass(error, failures, submitted_at):
                    raise
            else:
                failures = 0
                for event in view.news(response):
                    yield event
                found = outcome(response, inquiry, response_id)
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

    async def cancel(self, response_id: str, inquiry: Inquiry) -> Finished | StillRunning:
        """Ask once to stop the run, unless it has ended, and wait a little for its last state."""
        found = await self.look(response_id, inquiry)
        if isinstance(found, Finished):
            return found
        await self._api.cancel(f"{self._path}/{response_id}/cancel")
        for _ in range(self._polling.cancel_looks):
            found = await self.look(response_id, inquiry)
            if isinstance(found, Finished):
                break
            await self._sleep(self._polling.cancel_wait_seconds)
        return found


def outcome(response: JsonObject, inquiry: Inquiry, response_id: str) -> Finished | StillRunning:
    """Return the state of the run with this id; raises if it ended without an answer."""
    if has_ended(response):
        answer = settle(response, inquiry.noting(other_run(response, response_id)))
        return Finished(answer._replace(response_id=response_id))
    return StillRunning(_doing(response), _visible(response))


def _visible(response: JsonObject) -> str:
    return visible_so_far(answer_text(objects_at(response, "output")))


def _doing(response: JsonObject) -> str:
    if response.get("status") == "queued":
        return "waiting for its turn"
    if _visible(response):
        return "writing the answer"
    pages = page_count(objects_at(response, "output"))
    return reading(pages) if pages else "researching"


class _View:
    """Remembers what was seen of a run, so that only changes are reported."""

    def __init__(self) -> None:
        self._progress = ""
        self._text = ""

    def news(self, response: JsonObject) -> Iterator[Event]:
        if not has_ended(response) and (progress := _doing(response)) != self._progress:
            self._progress = progress
            yield Progress(progress)
        text = _visible(response)
        if text != self._text:
            is_longer = text.startswith(self._text)  # if not, the provider has rewritten the text
            yield TextDelta(text.removeprefix(self._text) if is_longer else text, replaces=not is_longer)
            self._text = text
