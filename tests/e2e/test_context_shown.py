"""What the next question would carry, shown before it is asked."""

import json
from pathlib import Path

from dirty_equals import IsPartialDict
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.providers.base import ListedModel

TOOLS = ("research", "models")


async def test_the_context_says_what_each_message_takes_and_what_the_next_question_leaves_out(
    home: Home, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n" * 50)
    openai = FakeModels(name="openai")
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 4_096)])
    async with serving(home, openai, ollama, tools=TOOLS, roots=(tmp_path,)) as client:
        asked = {"prompt": "word " * 700, "model": "openai:gpt-6-sol"}
        first = data_of(await client.call_tool("chat", {**asked, "files": [str(tmp_path / "a.py")]}))
        same = {"conversationId": first["conversationId"]}
        await client.call_tool("chat", {**asked, **same})
        before = home.only()
        whole = await client.call_tool("show_context", same)
        small = data_of(await client.call_tool("show_context", {**same, "model": "ollama:small"}))
        assert home.only() == before
        await client.call_tool("chat", {**same, "prompt": "And now?", "model": "ollama:small"})
    shown = data_of(whole)
    assert shown == IsPartialDict(provider="openai", model="openai:gpt-6-sol", conversationId=first["conversationId"])
    assert [message["isSent"] for message in shown["messages"]] == [True] * 5
    assert [message.get("number") for message in shown["messages"]] == [None, 2, 3, 4, 5]
    assert shown["messages"][1]["files"] == [IsPartialDict(path=str(tmp_path / "a.py"), sent="whole")]
    assert shown["tokens"] == sum(message["tokens"] for message in shown["messages"])
    assert shown["costUsd"] > 0
    assert "#2 user" in text_of(whole)
    assert [message["isSent"] for message in small["messages"] if message.get("number")] == [False, False, True, True]
    assert small["tokens"] <= small["limitTokens"] < small["windowTokens"] == 4_096
    assert len(ollama.requests[0].messages) == 4
    assert len(openai.requests) == 2


async def test_a_context_that_cannot_be_sent_is_shown_as_the_error_that_a_question_would_get(home: Home) -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 4_096)])
    async with serving(home, FakeModels(name="openai"), ollama, tools=TOOLS) as client:
        asked = {"prompt": "word " * 5_000, "model": "openai:gpt-6-sol"}
        same = {"conversationId": data_of(await client.call_tool("chat", asked))["conversationId"]}
        error = error_of(await client.call_tool("show_context", {**same, "model": "ollama:small"}))
        unknown = error_of(await client.call_tool("show_context", {"conversationId": "20200101-1577836800000"}))
    assert error["code"] == "CONTEXT_TOO_LARGE"
    assert unknown["code"] == "CONVERSATION_NOT_FOUND"
    assert json.dumps(home.only()).count("pendingTurn") == 0
