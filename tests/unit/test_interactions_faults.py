"""What goes wrong at Gemini, told apart: blocked, cut, empty, broken off, refused."""

from collections.abc import AsyncGenerator

import httpx
import pytest
from tests.fixtures.asked import FakeTime, answer_of, request
from tests.fixtures.families import configured
from tests.fixtures.interactions_client import gemini

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ProviderAuthError,
    ProviderError,
    ProviderQuotaError,
    ProviderRateLimitedError,
    ProviderUnavailableError,
    StreamBrokenError,
)
from conversation_mcp.providers.base import Event, Finished, TextDelta
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.interactions.provider import InteractionsProvider

WITHOUT_TEXT = {
    "refusal": "Gemini blocked the answer: The prompt was blocked: PROHIBITED_CONTENT.",
    "filtered": "Gemini blocked the answer: The response was withheld: SAFETY.",
    "cut_empty": "Gemini reached its token limit while thinking before it wrote any text.",
    "tool_only": "Gemini called a tool that it does not have.",
    "empty": "Gemini answered without any text.",
}


@pytest.mark.parametrize("fault", WITHOUT_TEXT)
async def test_an_answer_without_text_says_why_and_keeps_what_it_cost(fault: str) -> None:
    async with gemini() as (peer, _):
        with pytest.raises(AnswerIncompleteError) as caught:
            await peer.answer(f"Why? [[fault:{fault}]]")
    assert (caught.value.message, caught.value.is_free) == (WITHOUT_TEXT[fault], False)
    assert caught.value.usage == {"inputTokens": 10, "outputTokens": 7, "reasoningTokens": 2}


async def watch(events: AsyncGenerator[Event], shown: list[str]) -> None:
    async for event in events:
        shown += [event.text] if isinstance(event, TextDelta) else []


CUT = {
    "cut": "the answer was cut at the provider's token limit. Ask it to continue.",
    "continuation": "the answer was cut at the provider's token limit. Ask it to continue.",
    "budget": "the answer was cut by the provider (budget_exceeded). Ask it to continue.",
    "filtered_late": "the answer was cut by the provider (The response was withheld: SAFETY). Ask it to continue.",
}


@pytest.mark.parametrize("fault", CUT)
async def test_a_cut_answer_is_kept_and_said_to_be_cut(fault: str) -> None:
    async with gemini() as (peer, _):
        answer = await peer.answer(f"Why? [[fault:{fault}]]")
    assert (answer.content, answer.finish_reason, answer.notices) == ("answer 1 to: Why?", "length", (CUT[fault],))


async def test_a_failed_run_says_what_google_said() -> None:
    async with gemini() as (peer, _):
        with pytest.raises(ProviderUnavailableError, match="could not finish the answer: internal: the model broke"):
            await peer.answer("Why? [[fault:failed]]")


@pytest.mark.parametrize("fault", ["early_eof", "dropped", "malformed", "error_frame"])
async def test_a_broken_stream_shows_what_came_and_is_no_answer(fault: str) -> None:
    async with gemini() as (peer, server):
        shown: list[str] = []
        asked = peer.provider.ask(request(f"Why? [[fault:{fault}]]", mode="chat", model="small-1"))
        with pytest.raises(ProviderError) as caught:
            await watch(asked, shown)
        assert len(server.requests) == 1
    assert "".join(shown) == "answer 1 to: Why?"
    assert not caught.value.is_free
    assert caught.value.usage == {"inputTokens": 1, "outputTokens": 1}


@pytest.mark.parametrize("fault", ["status_only", "odd", "no_done"])
async def test_an_end_that_is_told_in_another_way_is_an_end(fault: str) -> None:
    async with gemini() as (peer, _):
        assert (await peer.answer(f"Why? [[fault:{fault}]]")).content == "answer 1 to: Why?"


async def test_only_an_answer_that_is_kept_is_told_by_its_id() -> None:
    async with gemini(quirks={"store": True}) as (peer, server):
        events = await peer.events("Why?")
        found = await peer.provider.fetch(str(answer_of(events).response_id))
        assert server.requests[-1]["store"] is True
    assert isinstance(found, Finished)
    assert found.answer.content == "answer 1 to: Why?"


def refusing(status: int, error: dict[str, str]) -> InteractionsProvider:
    def reply(_sent: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json={"error": error})

    time = FakeTime()
    found = configured("gemini", "https://gateway.example/v1beta", "AIza-loopback-0123456789")
    client = LazyClient(httpx.MockTransport(reply))
    return InteractionsProvider(found, client, retries=0, sleep=time.sleep, clock=time.clock)


async def refusal(provider: InteractionsProvider) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        [event async for event in provider.ask(request("Why?", mode="chat", model="small-1"))]
    return caught.value


QUOTA = "You exceeded your current quota, please check your plan and billing details."


async def test_the_limit_of_a_minute_is_no_empty_account_although_google_calls_it_a_quota() -> None:
    told = {"code": "rate_limit_exceeded", "message": f"{QUOTA} {'More. ' * 60}Please retry in 46.3s."}
    error = await refusal(refusing(429, told))
    assert isinstance(error, ProviderRateLimitedError)
    assert error.retry_after_seconds == 46.3


@pytest.mark.parametrize("detail", ["limit: 0, model: gemini", "GenerateRequestsPerDayPerProject", "per day"])
async def test_a_quota_that_waiting_does_not_fill_is_told_as_one(detail: str) -> None:
    told = {"code": "quota_exceeded", "message": f"{QUOTA} {'More. ' * 60}{detail}"}
    assert isinstance(await refusal(refusing(429, told)), ProviderQuotaError)


async def test_a_wrong_key_that_google_calls_a_bad_request_is_told_as_a_wrong_key() -> None:
    told = {"code": "invalid_request", "message": "API key not valid. Please pass a valid API key."}
    error = await refusal(refusing(400, told))
    assert isinstance(error, ProviderAuthError)
    assert "GEMINI_API_KEY" in error.sentence()


async def test_a_stream_in_place_of_which_a_page_comes_is_no_answer() -> None:
    async with gemini() as (peer, _):
        with pytest.raises(ProviderUnavailableError, match="something other than a stream"):
            await peer.answer("Why? [[fault:html_200]]")


async def test_a_stream_that_says_nothing_at_all_is_broken() -> None:
    def reply(_sent: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=b"data: [DONE]\n\n", headers={"content-type": "text/event-stream"})

    found = configured("gemini", "https://gateway.example/v1beta", "AIza-loopback-0123456789")
    provider = InteractionsProvider(found, LazyClient(httpx.MockTransport(reply)), retries=0)
    assert isinstance(await refusal(provider), StreamBrokenError)
