"""The families against llmock, which makes faults on demand and then judges the client."""

from collections.abc import Iterator
from typing import Any

import anyio
import httpx
import pytest
from tests.fixtures.engines import llmock
from tests.fixtures.families import FAMILIES, Asking, Family, Recording, asking_at

from conversation_mcp.errors import (
    ContextTooLargeError,
    ConversationMCPError,
    ProviderAuthError,
    ProviderQuotaError,
    ProviderRateLimitedError,
    ProviderRejectedError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    StreamBrokenError,
)

pytestmark = pytest.mark.parametrize("family", FAMILIES)
MODEL = "gpt-4o"
QUESTION = "Which river?"


class OnlyQuestions(Recording):
    """The network without look-ups of models, of which llmock knows none; they would use up its faults."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(404) if request.method == "GET" else await super().handle_async_request(request)


class Judge:
    """llmock's own control over its faults and its view of the client."""

    def __init__(self, origin: str, client: httpx.Client) -> None:
        self._origin = origin
        self._client = client

    def address(self, family: Family) -> str:
        """Return the base URL of the provider that it plays to this family."""
        return f"{self._origin}{'/anthropic' if family == 'messages' else ''}/v1"

    def inject(self, fault: str, /, **fields: object) -> None:
        self._client.post("/reset").raise_for_status()
        behavior = {"type": fault, "times": 1, **fields}
        self._client.post("/scenario", json={"behaviors": [behavior]}).raise_for_status()

    def wait_for_end(self) -> None:
        """Wait until it has noticed that the call is over."""
        while not self._client.get("/requests").raise_for_status().json():
            pass

    def verdict(self) -> dict[str, Any]:
        return self._client.get("/verdict").raise_for_status().json()


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with llmock() as origin, httpx.Client(base_url=f"{origin}/_llmock") as client:
        yield Judge(origin, client)


async def fails(asking: Asking, error: type[ConversationMCPError]) -> ConversationMCPError:
    with pytest.raises(error) as caught:
        await asking.answer(QUESTION)
    return caught.value


async def test_an_answer_without_a_fault_is_whole(judge: Judge, family: Family) -> None:
    judge.inject("reply", text="The Elbe.")
    async with asking_at(judge.address(family), family, transport=OnlyQuestions, model=MODEL) as asking:
        answer = await asking.answer(QUESTION)
    assert (answer.content, answer.finish_reason) == ("The Elbe.", "stop")
    assert answer.usage is not None
    assert answer.usage.output_tokens
    assert judge.verdict()["findings"] == []


async def test_a_rate_limit_is_waited_for_as_long_as_it_says(judge: Judge, family: Family) -> None:
    judge.inject("fail", status=429, retry_after=1)
    async with asking_at(
        judge.address(family), family, transport=OnlyQuestions, model=MODEL, really_waits=True
    ) as asking:
        assert (await asking.answer(QUESTION)).notices
    assert len(asking.sent) == 2
    assert (judge.verdict()["faults_injected"], judge.verdict()["findings"]) == (1, [])


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ProviderRejectedError),
        (401, ProviderAuthError),
        (402, ProviderQuotaError),
        (403, ProviderRejectedError),
        (404, ProviderRejectedError),
        (413, ContextTooLargeError),
        (422, ProviderRejectedError),
    ],
)
async def test_what_no_repetition_mends_is_asked_once(
    judge: Judge, family: Family, status: int, error: type[ConversationMCPError]
) -> None:
    judge.inject("fail", status=status)
    async with asking_at(judge.address(family), family, transport=OnlyQuestions, model=MODEL) as asking:
        await fails(asking, error)
    assert len(asking.sent) == 1
    assert (judge.verdict()["faults_injected"], judge.verdict()["findings"]) == (1, [])


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"status": 500}, ProviderUnavailableError),
        ({"status": 503}, ProviderUnavailableError),
        ({"status": 429, "retry_after": 3600}, ProviderRateLimitedError),
    ],
    ids=["500", "503", "429"],
)
async def test_what_may_be_billed_or_takes_an_hour_is_left_to_a_person(
    judge: Judge, family: Family, fault: dict[str, Any], error: type[ConversationMCPError]
) -> None:
    judge.inject("fail", **fault)
    async with asking_at(judge.address(family), family, transport=OnlyQuestions, model=MODEL) as asking:
        await fails(asking, error)
    assert len(asking.sent) == 1
    verdict = judge.verdict()
    assert (verdict["passed"], [finding["code"] for finding in verdict["findings"]]) == (True, ["gave_up"])


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("truncate", StreamBrokenError),
        ("disconnect", StreamBrokenError),
        ("malformed", StreamBrokenError),
        ("stall", ProviderTimeoutError),
    ],
)
async def test_half_an_answer_is_none_and_only_a_person_asks_again(
    judge: Judge, family: Family, fault: str, error: type[ConversationMCPError]
) -> None:
    judge.inject("stream_fault", kind=fault, after_chunks=2, stall_seconds=30)
    async with asking_at(
        judge.address(family), family, transport=OnlyQuestions, model=MODEL, silence_seconds=1
    ) as asking:
        await fails(asking, error)
        assert len(asking.sent) == 1
        await anyio.to_thread.run_sync(judge.wait_for_end)
        assert (await asking.answer(QUESTION)).content
    verdict = judge.verdict()
    assert (verdict["passed"], verdict["faults_injected"]) == (True, 1), verdict
