"""One failing question costs at most one call that may have been billed, and three where no connection was made."""

from collections.abc import AsyncGenerator, Callable, Mapping

import httpx
import pytest
from tests.fixtures.families import FAMILIES, Family, asking_at

from conversation_mcp.errors import MAYBE_BILLED, ConversationMCPError

Act = Callable[[httpx.Request], httpx.Response]
STREAM = {"content-type": "text/event-stream"}


def raising(error: type[httpx.TransportError]) -> Act:
    def act(request: httpx.Request) -> httpx.Response:
        message = "as the test wants it"
        raise error(message, request=request)

    return act


def answering(status: int, content: bytes = b"", headers: Mapping[str, str] | None = None) -> Act:
    return lambda _: httpx.Response(status, content=content, headers=headers)


class Breaking(httpx.AsyncByteStream):
    """A stream that is dropped behind its first bytes."""

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        yield b": alive\n\n"
        message = "reset by the peer"
        raise httpx.ReadError(message)


MAYBE: dict[str, Act] = {
    "nothing came back": raising(httpx.ReadTimeout),
    "reset before an answer": raising(httpx.ReadError),
    "reset while it was sent": raising(httpx.WriteError),
    "closed without an answer": raising(httpx.RemoteProtocolError),
    "http 500": answering(500, b'{"error":{"message":"boom"}}'),
    "http 502 of a proxy": answering(502, b"<html></html>"),
    "http 503": answering(503),
    "a page instead of a stream": answering(200, b"<html></html>", {"content-type": "text/html"}),
    "a stream of nothing": answering(200, b"", STREAM),
    "a stream that is no json": answering(200, b"data: {\n\n", STREAM),
    "a stream that is dropped": lambda _: httpx.Response(200, stream=Breaking(), headers=STREAM),
}
FREE: dict[str, tuple[Act, int]] = {
    "refused connection": (raising(httpx.ConnectError), 3),
    "connection not made in time": (raising(httpx.ConnectTimeout), 3),
    "rate limit": (answering(429, b"", {"retry-after": "1"}), 3),
    "rate limit of an hour": (answering(429, b"", {"retry-after": "3600"}), 1),
    "http 400": (answering(400), 1),
    "http 401": (answering(401), 1),
    "http 422": (answering(422), 1),
}


async def asked(family: Family, act: Act) -> tuple[int, ConversationMCPError]:
    """Ask once and return how many create calls that were, and the error."""
    calls: list[httpx.Request] = []

    def count(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":  # looking a model up costs nothing
            calls.append(request)
        return act(request)

    peer = "https://peer.example/v1"
    async with asking_at(peer, family, model="small-1", transport=lambda: httpx.MockTransport(count)) as asking:
        with pytest.raises(ConversationMCPError) as caught:
            await asking.answer("Which river?")
    return len(calls), caught.value


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("failure", MAYBE)
async def test_what_may_have_been_billed_is_called_once_and_says_so(failure: str, family: Family) -> None:
    calls, error = await asked(family, MAYBE[failure])
    assert (calls, error.advice) == (1, MAYBE_BILLED)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("failure", FREE)
async def test_what_cannot_have_been_billed_is_called_three_times_at_most(
    failure: str, family: Family
) -> None:  # defect 12
    act, limit = FREE[failure]
    calls, error = await asked(family, act)
    assert calls == limit
    assert error.advice != MAYBE_BILLED
