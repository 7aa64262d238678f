from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest
from tests.fixtures.asked import FakeTime
from tests.fixtures.chat_server import ChatServer

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.base import Progress
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.wire.http import RetryLimits, Sent, retry_after_seconds, send_create

OUTSIDE = "https://api.example/v1"
LIMITS = RetryLimits(first_wait_seconds=1, max_wait_seconds=20, max_total_seconds=30)
Step = Callable[[], httpx.Response]


def limited(**headers: str) -> Step:
    return lambda: httpx.Response(429, headers={name.replace("_", "-"): value for name, value in headers.items()})


def refused() -> httpx.Response:
    message = "connection refused"
    raise httpx.ConnectError(message)


def ok() -> httpx.Response:
    return httpx.Response(200)


async def sent(*steps: Step, retries: int = 2) -> tuple[list[object], FakeTime, int]:
    time, left = FakeTime(), list(steps)

    async def send() -> httpx.Response:
        return left.pop(0)()

    steps_seen = [step async for step in send_create(send, retries=retries, limits=LIMITS, sleep=time.sleep)]
    found: list[object] = [
        (step.response.status_code, step.notices) if isinstance(step, Sent) else step for step in steps_seen
    ]
    return found, time, len(left)


async def test_a_call_that_succeeds_is_sent_once_and_needs_no_notice() -> None:
    found, time, left = await sent(ok, ok)
    assert (found, time.sleeps, left) == ([(200, ())], [], 1)


async def test_a_rate_limited_call_waits_as_told_and_says_so() -> None:
    found, time, _ = await sent(limited(retry_after="2"), limited(retry_after_ms="1500"), ok)
    notice = "The provider was asked again 2 times after being rate limited; nothing was billed for that."
    assert found == [
        Progress("rate limited, trying again in 2 s"),
        Progress("rate limited, trying again in 2 s"),
        (200, (notice,)),
    ]
    assert time.sleeps == [2.0, 1.5]


async def test_without_a_hint_the_waits_double() -> None:
    _, time, _ = await sent(limited(), limited(), limited(), ok, retries=5)
    assert time.sleeps == [1, 2, 4]


async def test_a_refused_connection_is_tried_again() -> None:
    found, time, _ = await sent(refused, ok)
    notice = "The provider was asked again 1 time after a failed connection; nothing was billed for that."
    assert found == [Progress("not reachable, trying again in 1 s"), (200, (notice,))]
    assert time.sleeps == [1]


async def test_the_number_of_retries_is_bounded() -> None:
    found, _, left = await sent(limited(retry_after="0"), limited(retry_after="0"), limited(), ok)
    assert [step for step in found if not isinstance(step, Progress)] == [
        (429, ("The provider was asked again 2 times after being rate limited; nothing was billed for that.",))
    ]
    assert left == 1
    with pytest.raises(httpx.ConnectError):
        await sent(refused, refused, refused, ok)


@pytest.mark.parametrize("wanted", ["21", "3600"])
async def test_a_longer_wait_than_the_bound_is_not_begun(wanted: str) -> None:
    found, time, left = await sent(limited(retry_after=wanted), ok)
    assert (found, time.sleeps, left) == ([(429, ())], [], 1)


async def test_the_waits_together_are_bounded() -> None:
    found, time, left = await sent(limited(retry_after="16"), limited(retry_after="16"), ok)
    assert found[-1] == (
        429,
        ("The provider was asked again 1 time after being rate limited; nothing was billed for that.",),
    )
    assert (time.sleeps, left) == ([16], 1)


class Body(httpx.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"never read"


async def test_every_response_is_closed_read_or_not() -> None:
    responses = [httpx.Response(429, stream=Body()), httpx.Response(200, stream=Body())]
    left = responses.copy()

    async def send() -> httpx.Response:
        return left.pop(0)

    async with aclosing(send_create(send, retries=1, limits=LIMITS, sleep=FakeTime().sleep)) as steps:
        seen = [await anext(steps), await anext(steps)]
        assert isinstance(seen[-1], Sent)
        assert [response.is_closed for response in responses] == [True, False]
    assert [response.is_closed for response in responses] == [True, True]


async def test_what_may_have_been_billed_is_never_sent_again() -> None:
    def broke_off() -> httpx.Response:
        message = "server disconnected"
        raise httpx.RemoteProtocolError(message)

    for step in (broke_off, lambda: httpx.Response(500)):
        try:
            _, time, left = await sent(step, ok)
        except httpx.RemoteProtocolError:
            continue
        assert (time.sleeps, left) == ([], 1)


DATE = "Sun, 29 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"Retry-After": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Sun, 29 Nov 2026 10:00:05 GMT", "date": DATE}, 5),
        ({"retry-after": "Sun, 29 Nov 2026 09:00:05 GMT", "date": DATE}, 0),
        ({"retry-after": "Sun, 29 Nov 2026 10:00:05 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(httpx.Headers(headers)) == seconds


async def test_the_clients_are_made_once_and_can_be_closed_twice() -> None:
    lazy = LazyClient()
    client, here = await lazy.get(OUTSIDE), await lazy.get("http://127.0.0.1:8000")
    assert await lazy.get("https://other.example") is client
    await lazy.aclose()
    await lazy.aclose()
    assert (client.is_closed, here.is_closed) == (True, True)


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTPS_PROXY", "ftp://proxy.example"),
        ("https_proxy", "http://proxy.example:many"),
        ("ALL_PROXY", "socks5://127.0.0.1:1"),
        ("SSL_CERT_FILE", "/nowhere/certificates.pem"),
    ],
)
async def test_a_bad_proxy_or_certificate_setting_is_named(no_proxy: pytest.MonkeyPatch, name: str, value: str) -> None:
    no_proxy.setenv(name, value)
    with pytest.raises(InvalidInputError, match=f"{name} ") as caught:
        await LazyClient().get(OUTSIDE)
    assert value not in caught.value.message


async def test_a_certificate_file_that_holds_none_is_named(no_proxy: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("no certificate")
    no_proxy.setenv("SSL_CERT_FILE", str(tmp_path / "empty.pem"))
    with pytest.raises(InvalidInputError, match="SSL_CERT_FILE"):
        await LazyClient().get(OUTSIDE)


async def test_a_proxy_from_the_environment_is_used(no_proxy: pytest.MonkeyPatch) -> None:
    no_proxy.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    no_proxy.setenv("NO_PROXY", "")
    lazy = LazyClient()
    with pytest.raises(httpx.ConnectError):
        await (await lazy.get(OUTSIDE)).get("http://example.invalid")
    await lazy.aclose()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2", "127.8.8.8", "[::]", "[::1]"])
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_what_is_sent_to_this_machine_takes_no_proxy(
    no_proxy: pytest.MonkeyPatch, variable: str, host: str
) -> None:
    address, lazy = f"http://{host}:9", LazyClient()
    with ChatServer("custom") as proxy:
        no_proxy.setenv(variable, proxy.base_url.removesuffix("/v1"))
        with pytest.raises(httpx.ConnectError):
            await (await lazy.get(address)).get(address)
        await lazy.aclose()
    assert proxy.requests == []
