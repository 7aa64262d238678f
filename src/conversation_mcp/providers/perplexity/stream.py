"""From the typed events of a streamed run to ours."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from anyio import move_on_after

from conversation_mcp.errors import ProviderTimeoutError, ProviderUnavailableError, StreamBrokenError
from conversation_mcp.models import Usage
from conversation_mcp.providers.base import Event, Finished, Progress, Started, TextDelta
from conversation_mcp.providers.perplexity.errors import broken_off
from conversation_mcp.providers.perplexity.facts import PROVIDER, Timeouts
from conversation_mcp.providers.perplexity.outcome import ENDED, failure, settle
from conversation_mcp.providers.perplexity.output import is_response_id, reading, usage
from conversation_mcp.providers.perplexity.request import Asked
from conversation_mcp.providers.sse import EventTooLargeError, ServerSentEvent, SseParser
from conversation_mcp.providers.wire.reading import (
    JsonObject,
    count_at,
    items_at,
    object_at,
    objects_at,
    parse_object,
    raw_text_at,
)
from conversation_mcp.providers.wire.visible import VisibleText
from conversation_mcp.text import shorten, storable

if TYPE_CHECKING:
    import httpx

MAX_PROGRESS_CHARS = 160
END_MARK = "[DONE]"


async def incoming_events(
    response: "httpx.Response", timeouts: Timeouts, clock: Callable[[], float]
) -> AsyncGenerator[JsonObject]:
    """Yield the JSON of each event of the response.

    Raises:
        ProviderUnavailableError: it is not an event stream.
        StreamBrokenError: the connection broke, or an event cannot be read.
        ProviderTimeoutError: it took longer than a whole answer may.
    """
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        raise ProviderUnavailableError(f"{PROVIDER} answered with something else than a stream.", maybe_billed=True)
    parser = SseParser()
    async with aclosing(_chunks(response, timeouts, clock)) as chunks:
        async for chunk in chunks:
            for event in _parsed(parser, chunk):
                if event.data != END_MARK:
                    yield _readable(event)
    for event in parser.close():
        if data := parse_object(event.data):
            yield data


async def _chunks(response: "httpx.Response", timeouts: Timeouts, clock: Callable[[], float]) -> AsyncGenerator[bytes]:
    deadline = clock() + timeouts.answer_seconds
    async with aclosing(cast("AsyncGenerator[bytes]", response.aiter_bytes())) as chunks:
        while True:
            chunk: bytes | None = None
            with move_on_after(max(0.0, deadline - clock())) as limit:
                chunk = await _next(chunks, timeouts)
            if limit.cancelled_caught:
                raise ProviderTimeoutError(PROVIDER, "finish the answer", timeouts.answer_seconds)
            if chunk is None:
                return
            yield chunk


async def _next(chunks: AsyncGenerator[bytes], timeouts: Timeouts) -> bytes | None:
    import httpx  # noqa: PLC0415 -- costs start-up time

    try:
        return await anext(chunks, None)
    except httpx.HTTPError as error:
        raise broken_off(error, timeouts) from error


def _parsed(parser: SseParser, chunk: bytes) -> list[ServerSentEvent]:
    try:
        return parser.feed(chunk)
    except EventTooLargeError as error:
        raise StreamBrokenError(f"{PROVIDER} sent too much: {error}.") from None


def _readable(event: ServerSentEvent) -> JsonObject:
    data = parse_object(event.data)
    if data is None:
        raise StreamBrokenError(f"{PROVIDER} sent an event that is not valid JSON.")
    return data


class StreamReader:
    """Takes the events of one run in order and keeps what its answer needs."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._visible = VisibleText()
        self._started = False
        self._last_progress = ""
        self._pieces: dict[tuple[int, int], list[str]] = {}
        self._items: list[JsonObject] = []
        self._response: JsonObject = {}
        self.ended = False

    def take(self, event: JsonObject) -> Iterator[Event]:
        """Yield what this event means; after the one that ends the run, `ended` is true.

        Raises:
            ProviderError: the run ended without an answer.
        """
        kind = raw_text_at(event, "type")
        if response := object_at(event, "response"):
            self._response = response
            yield from self._start(response)
        match kind.removeprefix("response."):
            case "output_text.delta":
                yield from self._progress("writing the answer")
                piece = raw_text_at(event, "delta")
                self._pieces.setdefault(_place(event), []).append(piece)
                yield from _delta(self._visible.feed(piece))
            case "output_text.done":
                if text := raw_text_at(event, "text"):
                    self._pieces[_place(event)] = [text]
            case "output_item.done":
                self._items.append(object_at(event, "item"))
            case "error":
                self.ended = True
                yield from _delta(self._visible.rest())
                raise failure(event)
            case state if state in ENDED:
                self.ended = True
                yield from _delta(self._visible.rest())
                yield self._finish({**self._response, "status": state}, event)
            case other:
                yield from self._doing(other, event)

    @property
    def usage(self) -> Usage | None:
        """What the run is known to have taken so far."""
        return usage(self._response)

    def _start(self, response: JsonObject) -> Iterator[Event]:
        response_id = raw_text_at(response, "id")
        if not self._started and is_response_id(response_id):
            self._started = True
            yield Started(response_id)

    def _doing(self, kind: str, event: JsonObject) -> Iterator[Event]:
        match kind:
            case "reasoning.started":
                yield from self._progress("thinking")
            case "reasoning.search_queries":
                queries = [query for query in items_at(event, "queries") if isinstance(query, str)]
                yield from self._progress("searching: " + " | ".join(queries) if queries else "searching")
            case "reasoning.search_results":
                self._items.append({"type": "search_results", "results": event.get("results")})
                yield from self._progress(reading(len(objects_at(event, "results"))))
            case "reasoning.fetch_url_queries":
                yield from self._progress(reading(len(items_at(event, "urls"))))
            case "reasoning.fetch_url_results":
                yield from self._progress(reading(len(items_at(event, "contents"))))
            case _:
                return

    def _progress(self, text: str) -> Iterator[Event]:
        if text != self._last_progress:
            self._last_progress = text
            yield Progress(shorten(storable(text), MAX_PROGRESS_CHARS))

    def _finish(self, response: JsonObject, event: JsonObject) -> Finished:
        if not object_at(response, "error"):
            response = {**response, "error": event.get("error")}
        return Finished(settle(response, self._asked, streamed_text=self._text(), seen=self._items))

    def _text(self) -> str:
        messages: dict[int, str] = {}
        for (message, _), pieces in self._pieces.items():
            messages[message] = messages.get(message, "") + "".join(pieces)
        return storable("\n\n".join(messages.values()))


def _place(event: JsonObject) -> tuple[int, int]:
    return count_at(event, "output_index") or 0, count_at(event, "content_index") or 0


def _delta(text: str) -> Iterator[Event]:
    if text:
        yield TextDelta(text)
