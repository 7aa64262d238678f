"""The main job through the in-memory client, in both protocol eras, with a provider that the test controls."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import Era, data_of, serving, text_of

from conversation_mcp.records.chat import ChatMessage


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_chain_of_search_and_research_is_one_conversation(home: Home, era: Era) -> None:
    provider = FakeProvider()
    async with serving(home, provider, era=era) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        await client.call_tool("search_followup", {**conversation, "query": "two?"})
        third = data_of(await client.call_tool("deep_research_followup", {**conversation, "query": "three?"}))
    system, *said = provider.requests[-1].messages
    assert system.role == "system"
    assert said == [
        ChatMessage("user", "one?"),
        ChatMessage("assistant", "answer 1 to one? [1]"),
        ChatMessage("user", "two?"),
        ChatMessage("assistant", "answer 2 to two? [1]"),
        ChatMessage("user", "three?"),
    ]
    assert third["messageCount"] == 7
    kept = home.stored(first["conversationId"])["messages"]
    assert [(message["role"], message["content"]) for message in kept] == [
        ("system", system.content),
        *((message.role, message.content) for message in said),
        ("assistant", "answer 3 to three? [1]"),
    ]


async def test_the_file_holds_the_facts_of_each_answer(home: Home) -> None:
    async with serving(home, FakeProvider()) as client:
        arguments = {"query": "one?", "search_recency_filter": "month"}
        first = data_of(await client.call_tool("search", arguments))
    question, answer = home.stored(first["conversationId"])["messages"][1:]
    del question["createdAt"], answer["createdAt"]
    assert question == snapshot(
        {"role": "user", "content": "one?", "tool": "search", "options": {"search_recency_filter": "month"}}
    )
    assert answer == snapshot(
        {
            "role": "assistant",
            "content": "answer 1 to one? [1]",
            "provider": "fake",
            "preset": "fast",
            "model": "test/one",
            "sentTo": {"fake": "outside"},
            "responseId": "resp_1",
            "finishReason": "stop",
            "sources": [{"id": 1, "title": "A page", "url": "https://example.org/1"}],
            "usage": {"inputTokens": 10, "outputTokens": 5, "costUsd": 0.25},
        }
    )


async def test_a_first_answer_reads_as_header_text_sources_and_next_step(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as client:
        result = await client.call_tool("search", {"query": "one?"})
    data = data_of(result)
    conversation_id, path = data["conversationId"], data["conversationPath"]
    assert path == str(tmp_path / "conversation-logs" / conversation_id / "conversation.json")
    assert text_of(result).replace(conversation_id, "ID").replace(str(tmp_path), "") == snapshot("""\
Conversation ID started · fake fast (test/one) · 1 source · $0.25

answer 1 to one? [1]

Sources
[1] A page — https://example.org/1

File: /conversation-logs/ID/conversation.json

Follow up: search_followup or deep_research_followup with conversationId ID.\
""")
    assert json.loads(json.dumps(data).replace(conversation_id, "ID").replace(str(tmp_path), "")) == snapshot(
        {
            "conversationId": "ID",
            "status": "completed",
            "rawResultText": "answer 1 to one? [1]",
            "searchResults": [{"id": 1, "title": "A page", "url": "https://example.org/1"}],
            "modelUsed": "test/one",
            "provider": "fake",
            "preset": "fast",
            "responseId": "resp_1",
            "usage": {"inputTokens": 10, "outputTokens": 5, "costUsd": 0.25},
            "messageCount": 3,
            "turn": 1,
            "nextStep": "Follow up: search_followup or deep_research_followup with conversationId ID.",
            "conversationPath": "/conversation-logs/ID/conversation.json",
        }
    )


async def test_history_shows_pages_from_the_oldest_and_hides_the_system_prompt(home: Home) -> None:
    async with serving(home, FakeProvider()) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        for number in range(2, 5):
            await client.call_tool("search_followup", {**conversation, "query": f"{number}?"})
        history = "get_conversation_history"
        last = data_of(await client.call_tool(history, {**conversation, "limit": 3}))
        page = data_of(await client.call_tool(history, {**conversation, "limit": 3, "offset": 1}))
        past = data_of(await client.call_tool(history, {**conversation, "offset": 50}))
        whole = data_of(await client.call_tool(history, {**conversation, "includeSystemPrompt": True}))
    assert [message["number"] for message in last["messages"]] == [7, 8, 9]
    assert (last["offset"], last["totalCount"], last["hasMore"]) == (5, 8, False)
    assert [message["number"] for message in page["messages"]] == [3, 4, 5]
    assert (page["offset"], page["hasMore"]) == (1, True)
    assert (past["messages"], past["hasMore"], past["totalCount"]) == ([], False, 8)
    assert whole["messages"][0]["role"] == "system"
    assert whole["messageCount"] == whole["totalCount"] == 9
