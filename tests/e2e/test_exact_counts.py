"""What the next question carries, counted by the provider that would be asked."""

import json

import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import ProviderUnavailableError
from conversation_mcp.providers.base import ListedModel, Request

TOOLS = ("research", "models")


class CountingModels(FakeModels):
    """Counts what it is asked to count."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.counted: list[Request] = []
        self.is_broken = False

    async def count(self, request: Request) -> int:
        self.counted.append(request)
        if self.is_broken:
            raise ProviderUnavailableError(f"{self.name} did not say how many tokens the request has.")
        return 1234


async def test_only_who_asks_for_the_exact_count_has_the_provider_count(home: Home) -> None:
    claude = CountingModels("anthropic")
    async with serving(home, claude, tools=TOOLS) as client:
        asked = {"prompt": "Why?", "model": "anthropic:claude-opus-5"}
        same = {"conversationId": data_of(await client.call_tool("chat", asked))["conversationId"]}
        before = home.only()
        estimate = data_of(await client.call_tool("show_context", same))
        assert claude.counted == []
        exact = await client.call_tool("show_context", {**same, "exact": True})
        assert home.only() == before
    assert "countedTokens" not in estimate
    assert data_of(exact) == IsPartialDict(
        tokens=estimate["tokens"], countedTokens=1234, costUsd=pytest.approx(1234 * 5 / 10**6)
    )
    assert "1,234 tokens as anthropic counts them" in text_of(exact)
    [counted] = claude.counted
    assert (counted.model, counted.mode) == ("claude-opus-5", "chat")
    assert [message.role for message in counted.messages] == ["system", "user", "assistant", "user"]
    assert counted.messages[1].content == "Why?"


async def test_words_that_never_left_are_counted_only_where_the_call_names_the_provider(home: Home) -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 4_096)])
    claude = CountingModels("anthropic")
    async with serving(home, ollama, claude, tools=TOOLS) as client:
        asked = {"prompt": "My diagnosis", "model": "ollama:small"}
        same = {"conversationId": data_of(await client.call_tool("chat", asked))["conversationId"], "exact": True}
        here = error_of(await client.call_tool("show_context", same))
        family = error_of(await client.call_tool("show_context", {**same, "model": "opus"}))
        assert claude.counted == []
        named = data_of(await client.call_tool("show_context", {**same, "model": "anthropic:claude-opus-5"}))
    assert here["code"] == "VALIDATION_ERROR"
    assert here["message"].startswith("ollama cannot count tokens exactly; of the configured providers, only anthropic")
    assert family["code"] == "FORBIDDEN"
    assert named["countedTokens"] == 1234
    assert "only ollama on this machine had until now" in json.dumps(named["notices"])


async def test_a_provider_that_gives_no_number_is_an_error_and_no_estimate_in_its_place(home: Home) -> None:
    claude = CountingModels("anthropic")
    claude.is_broken = True
    async with serving(home, claude, tools=TOOLS) as client:
        asked = {"prompt": "Why?", "model": "anthropic:claude-opus-5"}
        same = {"conversationId": data_of(await client.call_tool("chat", asked))["conversationId"], "exact": True}
        error = error_of(await client.call_tool("show_context", same))
    assert error["code"] == "PROVIDER_UNAVAILABLE"
    assert "did not say how many tokens" in error["message"]
