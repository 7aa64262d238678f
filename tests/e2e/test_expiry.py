"""What is told of the archiving of idle conversations, before it happens."""

from datetime import datetime, timedelta

from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, serving, text_of


def hours_between(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)) / timedelta(hours=1)


async def test_an_answer_and_the_history_say_when_an_idle_conversation_is_archived(home: Home) -> None:
    async with serving(home, FakeProvider(), conversation_timeout_hours=36) as client:
        answered = await client.call_tool("search", {"query": "one?"})
        same = {"conversationId": data_of(answered)["conversationId"]}
        shown = await client.call_tool("get_conversation_history", same)
    stored = home.only()
    assert hours_between(stored["updatedAt"], data_of(answered)["archivedAfter"]) == 36
    assert data_of(shown)["archivedAfter"] == data_of(answered)["archivedAfter"]
    line = f"Archived if it is not used before {data_of(answered)['archivedAfter']}"
    assert line in text_of(answered)
    assert line in text_of(shown)


async def test_nothing_is_said_where_nothing_is_archived(home: Home) -> None:
    async with serving(home, FakeProvider()) as client:
        answered = await client.call_tool("search", {"query": "one?"})
    assert "archivedAfter" not in data_of(answered)
    assert "Archived" not in text_of(answered)


async def test_a_conversation_with_a_tag_stays_and_so_nothing_is_said(home: Home) -> None:
    async with serving(home, FakeProvider(), conversation_timeout_hours=36, tools=("research", "manage")) as client:
        same = {"conversationId": data_of(await client.call_tool("search", {"query": "one?"}))["conversationId"]}
        await client.call_tool("update_conversation", {**same, "tags": ["kept"]})
        shown = data_of(await client.call_tool("get_conversation_history", same))
    assert "archivedAfter" not in shown
