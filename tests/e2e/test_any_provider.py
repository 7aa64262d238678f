"""One conversation with many engines: Perplexity's stand-in, a real llama.cpp, and servers of both families."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from tests.fixtures.agent import KEY as AGENT_KEY
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.chat_rules import KEY
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.contract import messages_of
from tests.fixtures.engines import LLAMA_MODEL, llama
from tests.fixtures.families import Recording
from tests.fixtures.interactions_server import InteractionsServer
from tests.fixtures.messages_server import MessagesServer
from tests.fixtures.responses_server import ResponsesServer
from tests.fixtures.serving import data_of, error_of, serving, settings_for

from conversation_mcp.bootstrap import open_app
from conversation_mcp.server import ConversationServer

CLAUDE, ROUTED = "anthropic:small-1", "openrouter:maker/large-1"


async def test_a_conversation_goes_on_with_whomever_is_named_and_one_file_tells_it_all(tmp_path: Path) -> None:
    network = Recording()
    with LoopbackAgent() as agent, llama() as llama_url, ChatServer("openrouter") as router:
        settings = settings_for(
            tmp_path,
            tools=("research", "models"),
            perplexity_api_key=AGENT_KEY,
            perplexity_base_url=agent.base_url,
            llamacpp_base_url=llama_url,
            openrouter_api_key=KEY,
            openrouter_base_url=router.base_url,
        )
        server = ConversationServer(settings, lambda: open_app(settings, transport=network), {})
        async with Client(server, raise_exceptions=True) as client:

            async def call(tool: str, **arguments: str) -> dict[str, Any]:
                return data_of(await client.call_tool(tool, arguments))

            found = await call("search", query="Which river?")
            same = {"conversationId": found["conversationId"]}
            noise = await call("chat", **same, prompt="Say it simply.", model=f"llamacpp:{LLAMA_MODEL}")
            more = await call("search_followup", **same, query="How long is it?")
            last = await call("chat", **same, prompt="Sum it up.", model=ROUTED)

    path = Path(found["conversationPath"])
    stored = json.loads(path.read_text(encoding="utf-8"))
    kept = [(message["role"], message["content"]) for message in stored["messages"]]
    assert [role for role, _ in kept] == ["system", *["user", "assistant"] * 4]
    asked = [body for body in network.bodies if "model" in body or "preset" in body]
    assert [messages_of(body) for body in asked] == [kept[: 2 * turn] for turn in (1, 2, 3, 4)]
    assert [content for role, content in kept if role == "assistant"] == [
        "answer 1 to: Which river?[1]",
        noise["rawResultText"],
        "answer 3 to: How long is it?[1]",
        "answer 4 to: Sum it up.",
    ]
    told = [
        (answer["provider"], answer["model"], answer["usage"].get("costUsd"), len(answer.get("sources", [])))
        for answer in stored["messages"]
        if answer["role"] == "assistant"
    ]
    assert told == [
        ("perplexity", "openai/gpt-6-luna", 0.0031, 2),
        ("llamacpp", LLAMA_MODEL, None, 0),
        ("perplexity", "openai/gpt-6-luna", 0.0031, 2),
        ("openrouter", "maker/large-1-0601", 0.0042, 0),
    ]
    assert [result["modelUsed"] for result in (found, noise, more, last)] == [model for _, model, _, _ in told]


async def test_a_chain_over_five_providers_sends_each_all_that_was_said_and_keeps_every_source(tmp_path: Path) -> None:
    network = Recording()
    with (
        LoopbackAgent() as agent,
        MessagesServer() as claude,
        InteractionsServer() as google,
        llama() as llama_url,
        ChatServer("openrouter") as router,
    ):
        settings = settings_for(
            tmp_path,
            tools=("research", "models"),
            perplexity_api_key=AGENT_KEY,
            perplexity_base_url=agent.base_url,
            anthropic_api_key=KEY,
            anthropic_base_url=claude.origin,
            gemini_api_key=KEY,
            gemini_base_url=google.base_url,
            llamacpp_base_url=llama_url,
            openrouter_api_key=KEY,
            openrouter_base_url=router.base_url,
        )
        server = ConversationServer(settings, lambda: open_app(settings, transport=network), {})
        async with Client(server, raise_exceptions=True) as client:

            async def call(tool: str, **arguments: str) -> dict[str, Any]:
                return data_of(await client.call_tool(tool, arguments))

            begun = await call("search", query="Which river?")
            same = {"conversationId": begun["conversationId"]}
            await call("chat", **same, prompt="Say it simply.", model=CLAUDE)
            await call("search_followup", **same, query="How long is it?", model="gemini:small-1")
            await call("chat", **same, prompt="Put it in verse.", model=f"llamacpp:{LLAMA_MODEL}")
            await call("chat", **same, prompt="Now as prose.", model=ROUTED)
            await call("chat", **same, prompt="Sum it up.", model=CLAUDE)

    stored = json.loads(Path(begun["conversationPath"]).read_text(encoding="utf-8"))["messages"]
    kept = [(message["role"], message["content"]) for message in stored]
    asked = [messages_of(body) for body in network.bodies if {"model", "preset"} & set(body)]
    assert asked == [kept[: 2 * turn] for turn in range(1, 7)]
    answers = [message for message in stored if message["role"] == "assistant"]
    assert [(answer["provider"], len(answer.get("sources", []))) for answer in answers] == [
        ("perplexity", 2),
        ("anthropic", 0),
        ("gemini", 2),
        ("llamacpp", 0),
        ("openrouter", 0),
        ("anthropic", 0),
    ]
    assert answers[0]["sources"] != answers[2]["sources"]
    first, last = claude.requests
    assert last["messages"][: len(first["messages"]) - 1] == first["messages"][:-1]
    assert last["system"] == first["system"]


async def test_a_conversation_that_its_model_cannot_take_is_refused_and_goes_on_with_a_shorter_question(
    tmp_path: Path,
) -> None:
    # The model writes random signs up to a limit; sent back, they would be many more tokens than it wrote.
    short: dict[str, Any] = {"providers": {"custom": {"quirks": {"output_limit_tokens": 32}}}}
    with llama() as llama_url:
        async with serving(
            tmp_path, tools=("models",), custom_base_url=llama_url, custom_default_model=LLAMA_MODEL, **short
        ) as client:
            first = data_of(await client.call_tool("chat", {"prompt": "Say it.", "model": "custom"}))
            same = {"conversationId": first["conversationId"]}
            error = error_of(await client.call_tool("chat", {**same, "prompt": "Again, please. " * 600}))
            second = data_of(await client.call_tool("chat", {**same, "prompt": "Again."}))
    assert error["code"] == "CONTEXT_TOO_LARGE"
    assert "accepts about" in error["message"]
    assert "Name a model" not in error["message"]
    assert second["messageCount"] == 5


@pytest.mark.parametrize("fault", ["early_eof", "dropped", "dropped_before", "error_frame", "500", "502_html"])
@pytest.mark.parametrize("name", ["openrouter", "openai"])
async def test_a_question_that_fails_is_sent_once_and_never_again(tmp_path: Path, name: str, fault: str) -> None:
    kind = ChatServer if name == "openrouter" else ResponsesServer
    question = f"Why? [[fault:{fault}]]"
    with kind(name) as server:
        access: dict[str, Any] = {f"{name}_api_key": KEY, f"{name}_base_url": server.base_url}
        async with serving(tmp_path, tools=("models",), **access) as client:
            error = error_of(await client.call_tool("chat", {"prompt": question, "model": f"{name}:small-1"}))
            same = {"conversationId": error["conversationId"]}
            data_of(await client.call_tool("chat", {**same, "prompt": "And now?", "model": f"{name}:small-1"}))
    assert error["code"] == "PROVIDER_UNAVAILABLE"
    first, second = (messages_of(body) for body in server.requests)
    assert (first[-1][1], [content for role, content in second if role == "user"]) == (question, ["And now?"])
