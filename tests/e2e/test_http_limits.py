"""Limits of owners over HTTP: one owner's flood ends at its own limit and nobody else's."""

from pathlib import Path

from tests.fixtures.over_http import http_server
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving, text_of

SETTING = "CONVERSATION_MCP_"


async def test_a_flood_of_one_owner_is_refused_and_anothers_question_is_answered(tmp_path: Path) -> None:
    provider = FakeProvider()
    async with (
        http_server(tmp_path, provider, max_questions_per_minute=3) as server,
        server.client("alice") as alice,
        server.client("bob") as bob,
    ):
        for number in range(3):
            data_of(await alice.call_tool("search", {"query": f"Why {number}?"}))
        refused = await alice.call_tool("search", {"query": "Why 4?"})
        data_of(await bob.call_tool("search", {"query": "Why 4?"}))
    assert error_of(refused)["code"] == "RATE_LIMITED"
    assert error_of(refused)["retryable"] is True
    assert "Ask again in " in text_of(refused)
    assert SETTING not in text_of(refused)
    assert len(provider.requests) == 4


async def test_a_refused_question_leaves_no_conversation(tmp_path: Path) -> None:
    async with (
        http_server(tmp_path, FakeProvider(), max_conversations_per_minute=1) as server,
        server.client("alice") as client,
    ):
        first = data_of(await client.call_tool("search", {"query": "Why?"}))["conversationId"]
        assert error_of(await client.call_tool("search", {"query": "Who?"}))["code"] == "RATE_LIMITED"
        data_of(await client.call_tool("search_followup", {"conversationId": first, "query": "How?"}))
        listed = data_of(await client.call_tool("list_conversations", {}))
    assert [each["conversationId"] for each in listed["conversations"]] == [first]


async def test_a_refused_follow_up_can_be_asked_again(tmp_path: Path) -> None:
    async with (
        http_server(tmp_path, FakeProvider(), max_questions_per_minute=1) as server,
        server.client("alice") as client,
    ):
        first = data_of(await client.call_tool("search", {"query": "Why?"}))["conversationId"]
        again = {"conversationId": first, "query": "How?"}
        for _ in range(2):
            assert error_of(await client.call_tool("search_followup", again))["code"] == "RATE_LIMITED"
        history = data_of(await client.call_tool("get_conversation_history", {"conversationId": first}))
    assert [message["content"] for message in history["messages"]][::2] == ["Why?"]


async def test_who_runs_the_program_on_stdio_is_not_limited(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), max_questions_per_minute=1, max_stored_bytes=1) as client:
        for number in range(3):
            data_of(await client.call_tool("search", {"query": f"Why {number}?"}))
