"""Addresses of sources that only lead on: what is asked, what is kept, and what stays as it was."""

from collections.abc import Callable, Coroutine

import anyio
import httpx
import pytest
from tests.fixtures.asked import FakeTime, answer_of, request
from tests.fixtures.families import configured

from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.interactions.provider import InteractionsProvider
from conversation_mcp.providers.interactions.redirects import AT_ONCE, MAX_ADDRESSES, Redirects
from conversation_mcp.records.models import Source

HOST = "vertexaisearch.cloud.google.com"
LINK = f"https://{HOST}/grounding-api-redirect/A"
PAGE = "https://page.example/a?b=c#d"
Serve = Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]


def leading_to(place: str, status: int = 302) -> Serve:
    async def serve(_sent: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers={"location": place, "set-cookie": "a=b; Domain=google.com"})

    return serve


async def pages(serve: Serve, *urls: str, within_seconds: float = 5) -> list[str | None]:
    client = LazyClient(httpx.MockTransport(serve))
    try:
        redirects = Redirects(client, frozenset({HOST}), within_seconds=within_seconds)
        found = await redirects.resolved(tuple(Source.of(id=at, url=url) for at, url in enumerate(urls, 1)))
    finally:
        await client.aclose()
    assert [source.id for source in found] == list(range(1, len(urls) + 1))
    return [source.url for source in found]


async def test_the_page_behind_an_address_takes_its_place_and_nobody_goes_there() -> None:
    sent: list[httpx.Request] = []

    async def serve(call: httpx.Request) -> httpx.Response:
        sent.append(call)
        return await leading_to(PAGE)(call)

    assert await pages(serve, LINK, "https://other.example/", f"{LINK}2", LINK) == [
        PAGE,
        "https://other.example/",
        PAGE,
        PAGE,
    ]
    assert sorted(str(call.url) for call in sent) == [LINK, f"{LINK}2"]
    assert {(call.method, call.content) for call in sent} == {("HEAD", b"")}
    secret = {"cookie", "authorization", "x-goog-api-key", "referer"}
    assert not any(secret & set(call.headers) for call in sent)


@pytest.mark.parametrize(
    "place",
    [
        "",
        "/elsewhere",
        "http://127.0.0.1:8080/admin",
        "http://localhost/",
        "http://intranet/",
        "http://[::1]/",
        "http://10.0.0.7/",
        "http://169.254.169.254/latest/meta-data",
        "http://[fd00::1]/",
        "http://[::ffff:192.168.0.1]/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user:word@page.example/",
        "https://page.example/a b",
        f"https://page.example/{'x' * 2000}",
        "http://[",
        LINK,
    ],
)
async def test_a_place_that_is_no_public_page_is_not_kept(place: str) -> None:
    assert await pages(leading_to(place), LINK) == [LINK]


@pytest.mark.parametrize("status", [200, 304, 404, 405, 500])
async def test_an_address_that_leads_nowhere_stays(status: int) -> None:
    assert await pages(leading_to(PAGE, status), LINK) == [LINK]


@pytest.mark.parametrize(
    "url",
    [
        f"http://{HOST}/a",
        f"https://{HOST}:8443/a",
        f"https://me@{HOST}/a",
        f"https://{HOST}.evil.example/a",
        "https://127.0.0.1/a",
        "https://[",
    ],
)
async def test_only_the_hosts_of_the_setting_are_asked_and_only_over_https(url: str) -> None:
    assert await pages(leading_to(PAGE), url) == [url]


async def test_a_failed_connection_and_one_that_hangs_cost_no_other_source_its_page() -> None:
    async def serve(call: httpx.Request) -> httpx.Response:
        if call.url.path.endswith("hangs"):
            await anyio.sleep_forever()
        if call.url.path.endswith("fails"):
            raise httpx.ConnectError("no")
        return await leading_to(PAGE)(call)

    urls = (f"{LINK}hangs", f"{LINK}fails", LINK)
    assert await pages(serve, *urls, within_seconds=0.2) == [*urls[:2], PAGE]


async def test_many_addresses_are_asked_side_by_side_and_up_to_a_limit() -> None:
    at_once, most, count = 0, 0, 0

    async def serve(call: httpx.Request) -> httpx.Response:
        nonlocal at_once, most, count
        count += 1
        at_once += 1
        most = max(most, at_once)
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        at_once -= 1
        return await leading_to(PAGE)(call)

    urls = [f"{LINK}{number}" for number in range(MAX_ADDRESSES + 5)]
    assert await pages(serve, *urls) == [PAGE] * MAX_ADDRESSES + urls[MAX_ADDRESSES:]
    assert (most, count) == (AT_ONCE, MAX_ADDRESSES)


@pytest.mark.parametrize(("hosts", "kept"), [([], LINK), ([HOST], PAGE)])
async def test_addresses_are_looked_up_only_where_the_setting_names_their_host(hosts: list[str], kept: str) -> None:
    note = {"type": "url_citation", "url": LINK, "title": "page.example", "start_index": 0, "end_index": 3}
    content = {"type": "text", "text": "So.", "annotations": [note]}
    run = {"id": "v1_a", "status": "completed", "steps": [{"type": "model_output", "content": [content]}]}

    async def serve(call: httpx.Request) -> httpx.Response:
        if call.url.host == HOST:
            return await leading_to(PAGE)(call)
        return httpx.Response(200, json=run if call.method == "POST" or "/interactions/" in call.url.path else {})

    client, time = LazyClient(httpx.MockTransport(serve)), FakeTime()
    peer = configured("gemini", "https://google.example/v1", "AIza-0123456789", quirks={"redirect_hosts": hosts})
    provider = InteractionsProvider(peer, client, retries=0, sleep=time.sleep, clock=time.clock)
    asked = [event async for event in provider.ask(request("Why?", mode="search", model="m"))]
    followed = [event async for event in provider.follow("v1_a")]
    await client.aclose()
    for events in (asked, followed):
        answer = answer_of(events)
        assert (answer.content, [source.url for source in answer.sources]) == ("So.[1]", [kept])
