"""Conversations that continue others: what is sent of the earlier ones, to whom, and what happens without them."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.serving import data_of, error_of, serving

from conversation_mcp.providers.base import ListedModel

TOOLS = ("research", "models", "manage")
SOL = "openai:gpt-6-sol"
SMALL = "ollama:small"


async def chat(client: Client, prompt: str, **arguments: object) -> dict[str, Any]:
    return data_of(await client.call_tool("chat", {"prompt": prompt, "model": SOL, **arguments}))


def asked(provider: FakeModels) -> list[str]:
    """Return the questions of the last request, in order."""
    return [one.content for one in provider.requests[-1].messages if one.role == "user"]


async def three(client: Client, **arguments: object) -> list[str]:
    """Ask in three conversations, each of which continues the one before, and return their ids."""
    ids: list[str] = []
    for prompt in ("one?", "two?", "three?"):
        link = {"continueFrom": ids[-1]} if ids else {}
        ids.append((await chat(client, prompt, **link, **arguments))["conversationId"])
    return ids


async def test_a_full_conversation_refuses_before_the_call_and_goes_on_in_a_child(home: Home) -> None:  # defect 2
    openai = FakeModels(name="openai")
    async with serving(home, openai, tools=TOOLS, max_conversation_turns=1) as client:
        first = await chat(client, "one?")
        full = error_of(await client.call_tool("chat", {"prompt": "two?", "conversationId": first["conversationId"]}))
        count = len(openai.requests)
        child = await chat(client, "two?", continueFrom=first["conversationId"])
    assert full["code"] == "TURN_LIMIT_REACHED"
    assert "continueFrom" in full["message"]
    assert count == 1
    assert asked(openai) == ["one?", "two?"]
    assert home.stored(child["conversationId"])["parent"]["conversationId"] == first["conversationId"]
    assert home.stored(first["conversationId"])["messageCount"] == 3


async def test_a_third_conversation_carries_the_messages_of_the_two_before_it(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "kept.py"
    path.write_text("answer = 42\n")
    openai = FakeModels(name="openai")
    async with serving(home, openai, tools=TOOLS, roots=(tmp_path,)) as client:
        first = await chat(client, "one?", files=[str(path)])
        second = await chat(client, "two?", continueFrom=first["conversationId"])
        third = await chat(client, "three?", continueFrom=second["conversationId"], files=[str(path)])
        await chat(client, "four?", conversationId=third["conversationId"])
    assert [words.splitlines()[-1] for words in asked(openai)] == ["one?", "two?", "three?", "four?"]
    assert [words.count("answer = 42") for words in asked(openai)] == [1, 0, 0, 0]
    before, after = ([(m.role, m.content) for m in request.messages] for request in openai.requests[-2:])
    assert after[: len(before)] == before


async def test_without_its_parent_a_child_goes_on_and_says_what_is_missing(home: Home) -> None:
    openai = FakeModels(name="openai")
    async with serving(home, openai, tools=TOOLS) as client:
        first, second, third = await three(client)
        data_of(await client.call_tool("delete_conversation", {"conversationId": first}))
        told = await chat(client, "four?", conversationId=third)
    assert asked(openai) == ["two?", "three?", "four?"]
    assert any(first in notice for notice in told["notices"])
    del second


@pytest.mark.parametrize("place", [0, 2])
async def test_a_cycle_made_by_hand_ends_where_it_began(home: Home, place: int) -> None:
    openai = FakeModels(name="openai")
    async with serving(home, openai, tools=TOOLS) as client:
        ids = await three(client)
        home.edit(ids[0], parent={"conversationId": ids[place], "messageCount": 3})
        await chat(client, "four?", conversationId=ids[2])
    assert asked(openai) == ["one?", "two?", "three?", "four?"]


async def test_the_words_of_a_private_parent_go_outside_only_when_the_call_names_who_gets_them(home: Home) -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 100_000)])
    openai = FakeModels(name="openai")
    async with serving(home, ollama, openai, tools=TOOLS, chat_default_model=SOL) as client:
        first = await chat(client, "My diagnosis is X.", model=SMALL)
        second = await chat(client, "two?", continueFrom=first["conversationId"], model=SMALL)
        error = error_of(
            await client.call_tool("search_followup", {"query": "three?", "conversationId": second["conversationId"]})
        )
        kept = data_of(await client.call_tool("chat", {"prompt": "three?", "continueFrom": second["conversationId"]}))
        before = len(openai.requests)
        named = await chat(client, "four?", continueFrom=kept["conversationId"])
    assert error["code"] == "FORBIDDEN"
    assert (kept["provider"], before) == ("ollama", 0)
    assert named["provider"] == "openai"
    assert "diagnosis" in asked(openai)[0]
    assert any("openai" in notice for notice in named["notices"])


async def test_continuing_what_is_not_there_asks_nobody_and_writes_nothing(home: Home) -> None:
    openai = FakeModels(name="openai")
    async with serving(home, openai, tools=TOOLS) as client:
        missing = {"prompt": "one?", "continueFrom": "20260101-1767225600000"}
        error = error_of(await client.call_tool("chat", missing))
    assert error["code"] == "CONVERSATION_NOT_FOUND"
    assert (openai.requests, home.ids()) == ([], [])
