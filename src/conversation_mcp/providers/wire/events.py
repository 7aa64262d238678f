"""The JSON objects of a response, read while it arrives: one for each event of a stream."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from anyio import move_on_after

from conversation_mcp.errors import ProviderError, ProviderTimeoutError, ProviderUnavailableError, StreamBrokenError
from conversation_mcp.providers.wire.bodies import MAX_BODY_BYTES, MAX_STREAM_BYTES, UnreadableBodyError, decoded
from conversation_mcp.providers.wire.errors import broken_off
from conversation_mcp.providers.wire.json_values import JsonObject, parse_first_object, plain_text
from conversation_mcp.providers.wire.limits import Timeouts
from conversation_mcp.providers.wire.sse import EventTooLargeError, ServerSentEvent, SseParser

if TYPE_CHECKING:
    import httpx

END_MARK = "[DONE]"
MAX_EVENTS = 1_000_000
ERROR = "error"
END: JsonObject = {"[DONE]": True}
"""Represents the end mark of some streams; compare with `is`."""
END_SECONDS = 0.1
"""How long the end of a response may follow its last event; a new connection takes about as long."""


async def incoming(
    response: "httpx.Response", title: str, timeouts: Timeouts, clock: Callable[[], float]
) -> AsyncGenerator[JsonObject]:
    """Yield the JSON of each event of the response, and END for an end mark.

    JSON in place of a stream is yielded as it is: a whole answer, or an error. Plain text is an error.

    Raises:
        ProviderUnavailableError: the response is neither a stream nor JSON.
        StreamBrokenError: the connection broke, or an event cannot be read.
        ProviderTimeoutError: the response took longer than a whole answer may.
    """
    kind = response.headers.get("content-type", "").lower()
    is_stream = kind.startswith("text/event-stream")
    max_bytes = MAX_STREAM_BYTES if is_stream else MAX_BODY_BYTES
    async with aclosing(_chunks(response, title, timeouts, clock, max_bytes)) as chunks:
        if is_stream:
            async with aclosing(_events(chunks, title)) as events:
                async for event in events:
                    yield event
            return
        # Some gateways do not pass on streams and send the whole answer in one piece.
        bodies = _whole(b"".join([chunk async for chunk in chunks]))
        if not bodies:
            raise ProviderUnavailableError(f"{title} answered with something other than a stream.", maybe_billed=True)
        for body in bodies:
            yield body


async def let_end(events: AsyncGenerator[JsonObject]) -> None:
    """Read what follows the last event that counts: only after a whole response does its connection serve the next."""
    with move_on_after(END_SECONDS), suppress(ProviderError):
        async for _ in events:
            pass


async def _events(chunks: AsyncGenerator[bytes], title: str) -> AsyncGenerator[JsonObject]:
    parser, count = SseParser(), 0
    async for chunk in chunks:
        events = _parsed(parser, chunk, title)
        count += len(events)
        if count > MAX_EVENTS:
            raise StreamBrokenError(f"{title} sent too much: more than {MAX_EVENTS} events.")
        for event in events:
            yield END if event.data.strip() == END_MARK else _readable(event, title)
    # Only here an unreadable event is dropped: the connection may have broken within it.
    for event in parser.close():
        if event.data.strip() == END_MARK:
            yield END
        elif data := _object_in(event):
            yield data


async def _chunks(
    response: "httpx.Response", title: str, timeouts: Timeouts, clock: Callable[[], float], max_bytes: int
) -> AsyncGenerator[bytes]:
    # The timeout of the client is for silence only; a server that sends a byte now and then would hold the turn.
    deadline = clock() + timeouts.answer_seconds
    async with aclosing(decoded(response, max_bytes)) as chunks:
        while True:
            chunk: bytes | None = None
            with move_on_after(max(0.0, deadline - clock())) as limit:
                chunk = await _next(chunks, title, timeouts)
            if limit.cancelled_caught:
                raise ProviderTimeoutError(title, "finish the answer", timeouts.answer_seconds)
            if chunk is None:
                return
            yield chunk


async def _next(chunks: AsyncGenerator[bytes], title: str, timeouts: Timeouts) -> bytes | None:
    import httpx

    try:
        return await anext(chunks, None)
    except UnreadableBodyError as error:
        raise StreamBrokenError(f"{title} {error}.") from None
    except httpx.HTTPError as error:
        raise broken_off(error, title, timeouts) from error


def _parsed(parser: SseParser, chunk: bytes, title: str) -> list[ServerSentEvent]:
    try:
        return parser.feed(chunk)
    except EventTooLargeError as error:
        raise StreamBrokenError(f"{title} sent too much: {error}.") from None


def _whole(body: bytes) -> list[JsonObject]:
    """Return the JSON of a response that does not call itself a stream, or its plain text as an error."""
    if (found := parse_first_object(body)) is not None:
        return [found]
    parser = SseParser(MAX_BODY_BYTES)
    events = [*parser.feed(body), *parser.close()]
    readable = [END if event.data.strip() == END_MARK else _object_in(event) for event in events]
    if readable and all(readable):
        return [each for each in readable if each]
    first = parse_first_object(body.partition(b"\n")[0])  # one object per line
    if first and ERROR in first:
        return [first]
    return [{ERROR: text}] if (text := plain_text(body)) else []


def _readable(event: ServerSentEvent, title: str) -> JsonObject:
    data = _object_in(event)
    if data is None and (text := plain_text(event.data.encode())):
        return {ERROR: text}
    if data is None:
        raise StreamBrokenError(f"{title} sent an event that is not valid JSON.")
    return data


def _object_in(event: ServerSentEvent) -> JsonObject | None:
    """Return the JSON of an event; an event that only its name marks as an error becomes one, whatever its data."""
    data = parse_first_object(event.data)
    if event.event.lower() != ERROR:
        return data
    if data is None:
        return {ERROR: event.data}
    return data if data.get(ERROR) or data.get("type") == ERROR else {ERROR: data}
