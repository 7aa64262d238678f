"""`chat` in conversations of every kind: who answers, who is kept, who stands in, and what is refused."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot
from mcp import Client
from tests.fixtures.models import FakeModels, FakePerplexity, FakeReader
from tests.fixtures.providers import answer_to, failing
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ProviderAuthError,
    ProviderError,
    ProviderRateLimitedError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from conversation_mcp.providers.base import Event, Finished, ListedModel, Request, Started, TextDelta
from conversation_mcp.records.usage import Usage

TOOLS = ("research", "models")


async def chat(client: Client, prompt: str, **arguments: Any) -> dict[str, Any]:
    return data_of(await client.call_tool("chat", {"prompt": prompt, **arguments}))


def stored(result: dict[str, Any]) -> dict[str, Any]:
    return json.loads(Path(result["conversationPath"]).read_text(encoding="utf-8"))


async def test_chats_and_searches_continue_each_other_with_everything_that_was_said(tmp_path: Path) -> None:
    perplexity, openai = FakePerplexity(), FakeModels(name="openai")
    async with serving(tmp_path, perplexity, openai, tools=TOOLS) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        same = {"conversationId": first["conversationId"]}
        await chat(client, "two?", **same, model="openai:gpt-6-sol")
        await client.call_tool("search_followup", {**same, "query": "three?", "model": "fast"})
        last = await chat(client, "four?", **same, model="openai:gpt-6-sol")
    spoken = [[message.content for message in request.messages[1:]] for request in openai.requests]
    assert spoken[1] == [
        "one?",
        "answer 1 to one? [1]",
        "two?",
        "answer 1 to two? [1]",
        "three?",
        "answer 2 to three? [1]",
        "four?",
    ]
    assert [message.content for message in perplexity.requests[1].messages][1:] == spoken[1][:5]
    told = [
        (m["provider"], m.get("requestedModel"), m["model"])
        for m in stored(last)["messages"]
        if m["role"] == "assistant"
    ]
    assert told == [
        ("perplexity", None, "test/one"),
        ("openai", "openai:gpt-6-sol", "gpt-6-sol"),
        ("perplexity", "fast", "fast"),
        ("openai", "openai:gpt-6-sol", "gpt-6-sol"),
    ]


async def test_a_chat_opens_a_conversation_with_a_system_message_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "chat.md").write_text("Speak briefly.", encoding="utf-8")
    openai = FakeModels(name="openai")
    async with serving(tmp_path, openai, tools=("models",)) as client:
        result = await client.call_tool("chat", {"prompt": "hello?", "reasoning_effort": "low"})
    data = data_of(result)
    assert openai.requests[0].messages[0].content == "Speak briefly."
    assert (openai.requests[0].mode, openai.requests[0].options.reasoning_effort) == ("chat", "low")
    assert (
        data["nextStep"] == f"Follow up: chat with conversationId {data['conversationId']} and model openai:gpt-6-sol."
    )
    assert "openai" in text_of(result)
    assert "gpt-6-sol" in text_of(result)


async def test_a_follow_up_stays_with_who_answered_last_and_says_why_only_once(tmp_path: Path) -> None:
    openai, xai = FakeModels(name="openai"), FakeModels(name="xai")
    async with serving(tmp_path, openai, xai, tools=TOOLS) as client:
        first = await chat(client, "one?")
        same = {"conversationId": first["conversationId"]}
        second = await chat(client, "two?", **same)
        await chat(client, "three?", **same, model="grok-4.6")
        await client.call_tool("search_followup", {**same, "query": "four?", "model": "openai:gpt-5-mini"})
        await client.call_tool("deep_research_followup", {**same, "query": "five?"})
        await client.call_tool("search_followup", {**same, "query": "six?"})
        last = await chat(client, "seven?", **same)
    assert [notice[:34] for notice in first["notices"]] == ["auto chose openai:gpt-6-sol for ba"]
    assert "notices" not in second
    models = [m["requestedModel"] for m in stored(last)["messages"] if m["role"] == "assistant"]
    assert models == [
        "openai:gpt-6-sol",
        "openai:gpt-6-sol",
        "xai:grok-4.6",
        "openai:gpt-5-mini",
        "openai:gpt-6-astra",
        "openai:gpt-5-mini",
        "openai:gpt-6-sol",
    ]


async def test_a_kept_model_that_may_not_be_asked_any_more_is_an_error_and_no_other_one_answers(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeModels(name="openai"), tools=TOOLS) as client:
        same = {"conversationId": (await chat(client, "one?", model="gpt-5-mini"))["conversationId"]}
    openai = FakeModels(name="openai")
    async with serving(tmp_path, openai, tools=TOOLS, disabled_models=["gpt-5-mini"]) as client:
        error = error_of(await client.call_tool("chat", {**same, "prompt": "two?"}))
        await chat(client, "two?", **same, model="gpt-5")
    assert error["message"] == snapshot(
        "gpt-5-mini of openai may not be asked: DISABLED_MODELS names gpt-5-mini. Name another model. Nothing was sent."
    )
    assert [request.model for request in openai.requests] == ["gpt-5"]


async def test_a_conversation_that_does_not_fit_is_refused_before_anything_is_sent_or_written(tmp_path: Path) -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 4_096)])
    openai = FakeModels(name="openai")
    async with serving(tmp_path, openai, ollama, tools=TOOLS) as client:
        first = await chat(client, "word " * 2_000, model="openai:gpt-6-sol")
        before = stored(first)
        same = {"conversationId": first["conversationId"]}
        error = error_of(await client.call_tool("chat", {**same, "prompt": "word " * 1_000, "model": "ollama:small"}))
        opening = error_of(await client.call_tool("chat", {"prompt": "word " * 9_000, "model": "ollama:small"}))
    assert error["code"] == "CONTEXT_TOO_LARGE"
    assert error["conversationId"] == first["conversationId"]
    assert error["message"] == snapshot(
        "the system text (71), the last exchange (4,095) and this question (1,024) alone have about 5,190 tokens; ollama:small accepts about 2,212 (told by the server). Nothing was sent. Name a model that accepts more: openai:gpt-6-sol or openai:gpt-5.6-terra or openai:gpt-5.6. Or start a new conversation with search."
    )
    assert "conversationId" not in opening
    assert stored(first) == before
    assert ollama.requests == []
    assert len(list(Path(first["conversationPath"]).parents[1].glob("2*"))) == 1


async def test_what_a_model_reported_corrects_the_estimate_for_it(tmp_path: Path) -> None:
    async def counted(request: Request) -> AsyncGenerator[Event]:
        yield Finished(answer_to(request, 1)._replace(usage=Usage(input_tokens=2_000), model="small"))

    ollama = FakeModels(counted, name="ollama", listed=[ListedModel("small", 4_096)])
    async with serving(tmp_path, ollama, tools=TOOLS) as client:
        same = {"conversationId": (await chat(client, "word " * 900, model="ollama:small"))["conversationId"]}
        error = error_of(await client.call_tool("chat", {**same, "prompt": "word " * 900}))
    assert error["code"] == "CONTEXT_TOO_LARGE"


FREE: list[ProviderError] = [
    ProviderRateLimitedError("xAI"),
    ProviderAuthError("xAI", "XAI_API_KEY"),
    ProviderUnavailableError("xAI is not reachable."),
]


@pytest.mark.parametrize("error", FREE, ids=lambda error: error.code)
async def test_another_model_stands_in_only_where_the_user_listed_it_and_the_result_says_so(
    tmp_path: Path, error: ProviderError
) -> None:
    xai, openai = FakeModels(failing(error), failing(error), name="xai"), FakeModels(name="openai")
    asked = {"model": "xai:grok-4.7"}
    async with serving(tmp_path, xai, openai, tools=TOOLS) as client:
        refused = error_of(await client.call_tool("chat", {"prompt": "one?", **asked}))
    async with serving(tmp_path, xai, openai, tools=TOOLS, fallback_models=["mistral:x", "gpt-6-sol"]) as client:
        result = await chat(client, "two?", **asked)
    assert refused["code"] == error.code
    assert (result["provider"], result["modelUsed"]) == ("openai", "gpt-6-sol")
    told = f"{error.code}: {error.message.rstrip('.')}"
    notice = f"xai:grok-4.7 did not take the question, and nothing was billed ({told}); "
    assert result["notices"] == [notice + "openai:gpt-6-sol from the fallback list was asked instead"]
    answer = stored(result)["messages"][-1]
    assert (answer["provider"], answer["requestedModel"]) == ("openai", "openai:gpt-6-sol")
    assert answer["notices"] == result["notices"]
    assert "pendingTurn" not in stored(result)
    assert len(openai.requests) == 1


@pytest.mark.parametrize(
    "script",
    [
        failing(ProviderUnavailableError("it broke off.", maybe_billed=True)),
        failing(ProviderTimeoutError("xAI", "answer", 10)),
        failing(AnswerIncompleteError("nothing came.")),
        failing(ProviderRateLimitedError("xAI"), Started("resp_1")),
    ],
    ids=["broken", "silent", "empty", "started"],
)
async def test_nobody_stands_in_for_a_call_that_may_have_been_billed(tmp_path: Path, script: Any) -> None:
    xai, openai = FakeModels(script, name="xai"), FakeModels(name="openai")
    async with serving(tmp_path, xai, openai, tools=TOOLS, fallback_models=["gpt-6-sol"]) as client:
        error_of(await client.call_tool("chat", {"prompt": "one?", "model": "xai:grok-4.7"}))
    assert openai.requests == []


async def test_when_nobody_takes_the_question_the_last_error_is_told_and_stands_in_the_file(tmp_path: Path) -> None:
    xai = FakeModels(failing(ProviderRateLimitedError("xAI")), name="xai")
    openai = FakeModels(failing(ProviderUnavailableError("OpenAI broke off.", maybe_billed=True)), name="openai")
    gemini = FakeModels(name="gemini")
    fallbacks = ["gpt-6-sol", "gemini-3.8-flash"]
    async with serving(tmp_path, xai, openai, gemini, tools=TOOLS, fallback_models=fallbacks) as client:
        error = error_of(await client.call_tool("chat", {"prompt": "one?", "model": "xai:grok-4.7"}))
        history = data_of(
            await client.call_tool("get_conversation_history", {"conversationId": error["conversationId"]})
        )
    assert error["code"] == "PROVIDER_UNAVAILABLE"
    assert history["pendingTurn"]["provider"] == "openai"
    assert history["pendingTurn"]["error"]["code"] == "PROVIDER_UNAVAILABLE"
    assert gemini.requests == []


async def test_the_same_chat_again_joins_the_one_that_runs(tmp_path: Path) -> None:
    release, asked = anyio.Event(), anyio.Event()

    async def slow(request: Request) -> AsyncGenerator[Event]:
        asked.set()
        await release.wait()
        yield TextDelta("slow")
        yield Finished(answer_to(request, 1))

    openai = FakeModels(slow, name="openai")
    results: list[dict[str, Any]] = []
    async with serving(tmp_path, openai, tools=TOOLS) as client, anyio.create_task_group() as tasks:

        async def ask() -> None:
            results.append(await chat(client, "one?"))

        tasks.start_soon(ask)
        tasks.start_soon(ask)
        with anyio.fail_after(60):
            await asked.wait()
            release.set()
    assert len(openai.requests) == 1
    assert results[0]["conversationId"] == results[1]["conversationId"]


@pytest.mark.parametrize("address", ["127.0.0.1:9/v1", "http://", "ftp://host/v1"])
async def test_a_question_that_cannot_even_be_sent_stands_in_the_file_with_the_reason(
    tmp_path: Path, address: str
) -> None:
    access: dict[str, Any] = {"openai_api_key": "sk-0123456789abcdef", "openai_base_url": address}
    async with serving(tmp_path, tools=TOOLS, **access) as client:
        error = error_of(await client.call_tool("chat", {"prompt": "one?", "model": "openai:gpt-5"}))
        same = {"conversationId": error["conversationId"]}
        history = data_of(await client.call_tool("get_conversation_history", same))
    assert error["message"].startswith("OPENAI_BASE_URL is not a web address.")
    assert history["pendingTurn"]["status"] == "failed"
    assert history["pendingTurn"]["error"]["message"].startswith("OPENAI_BASE_URL is not a web address.")


async def test_without_any_provider_chat_says_what_to_set(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeReader(), tools=TOOLS) as client:
        error = error_of(await client.call_tool("chat", {"prompt": "one?"}))
        empty = error_of(await client.call_tool("chat", {"prompt": " "}))
    assert (error["code"], error["message"]) == snapshot(
        (
            "PROVIDER_NOT_CONFIGURED",
            "no provider can chat. Set a key such as OPENAI_API_KEY or OPENROUTER_API_KEY, or start a local server such as Ollama.",
        )
    )
    assert empty["message"] == "prompt must not be empty."
    assert not (tmp_path / "conversation-logs").exists()
