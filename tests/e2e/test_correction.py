"""The correction of the estimate by what answers report, in a conversation that goes on in another server."""

from collections.abc import AsyncGenerator
from typing import Any

from mcp import Client
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.serving import data_of, serving

from conversation_mcp.providers.base import Answer, Event, Finished, ListedModel, Request
from conversation_mcp.providers.estimate import tokens_of
from conversation_mcp.records.usage import Usage

WINDOW, ANSWER_SHARE, RESERVE = 4_096, 0.4, 0.1
ROOM = WINDOW * (1 - ANSWER_SHARE)
WORDS = "word " * 150


async def _counting_half_more(request: Request) -> AsyncGenerator[Event]:
    """Count one and a half tokens for each that is estimated."""
    usage = Usage.of(input_tokens=round(1.5 * tokens_of(request.messages)))
    yield Finished(Answer(content=WORDS, model="small", usage=usage))


def _small(*, counts_more: bool = True) -> FakeModels:
    scripts = [_counting_half_more] * 20 if counts_more else []
    listed = [ListedModel("small", WINDOW), ListedModel("other", WINDOW)]
    return FakeModels(*scripts, name="ollama", listed=listed)


async def _chat(client: Client, model: str = "ollama:small", **arguments: object) -> dict[str, Any]:
    return data_of(await client.call_tool("chat", {"prompt": f"And? {WORDS}", "model": model, **arguments}))


def _sizes(provider: FakeModels) -> list[int]:
    return [tokens_of(request.messages) for request in provider.requests]


async def test_after_a_restart_requests_stay_as_small_as_the_models_own_count_demands(home: Home) -> None:
    before, after = _small(), _small(counts_more=False)
    async with serving(home, before, tools=("research", "models")) as client:
        same = {"conversationId": (await _chat(client))["conversationId"]}
        for _ in range(11):
            await _chat(client, **same)
    async with serving(home, after, tools=("research", "models")) as client:
        await _chat(client, **same)
        await _chat(client, "ollama:other", **same)
        child = await _chat(client, continueFrom=same["conversationId"])
    assert max(1.5 * size for size in _sizes(before)[4:]) <= ROOM
    corrected, of_another_model, of_child = _sizes(after)
    assert ROOM / 3 < 1.5 * corrected <= ROOM
    assert corrected * 1.2 < of_another_model <= ROOM * (1 - RESERVE)
    assert 1.5 * of_child <= ROOM
    assert child["conversationId"] != same["conversationId"]
