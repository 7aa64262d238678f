"""What is told of the archiving and forgetting of idle conversations, before it happens."""

from datetime import datetime, timedelta

import pytest
from anyio import to_thread
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, serving, text_of

from conversation_mcp.stores.catalog import open_retention


def hours_between(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)) / timedelta(hours=1)


def told_of(home: Home) -> tuple[str, str]:
    """Return the field that tells of it and the word for what is done, as the store does it."""
    return ("forgottenAfter", "Forgotten") if home.store_url.startswith("redis:") else ("archivedAfter", "Archived")


async def test_an_answer_and_the_history_say_when_an_idle_conversation_is_put_away(home: Home) -> None:
    field, done = told_of(home)
    async with serving(home, FakeProvider(), conversation_timeout_hours=36) as client:
        answered = await client.call_tool("search", {"query": "one?"})
        same = {"conversationId": data_of(answered)["conversationId"]}
        shown = await client.call_tool("get_conversation_history", same)
    stored = home.only()
    assert hours_between(stored["updatedAt"], data_of(answered)[field]) == pytest.approx(36, abs=0.01)
    for result in (answered, shown):
        assert hours_between(data_of(result)[field], data_of(answered)[field]) == pytest.approx(0, abs=0.01)
        assert f"{done} if it is not used before {data_of(result)[field]}" in text_of(result)
        assert len({"forgottenAfter", "archivedAfter"} & data_of(result).keys()) == 1


async def test_nothing_is_said_where_nothing_is_archived(home: Home) -> None:
    async with serving(home, FakeProvider()) as client:
        answered = await client.call_tool("search", {"query": "one?"})
    assert "archivedAfter" not in data_of(answered)
    assert "Archived" not in text_of(answered)
    assert ("forgottenAfter" in data_of(answered)) == home.store_url.startswith("redis:")


async def test_a_conversation_with_a_tag_stays_and_so_nothing_is_said(home: Home) -> None:
    async with serving(home, FakeProvider(), conversation_timeout_hours=36, tools=("research", "manage")) as client:
        same = {"conversationId": data_of(await client.call_tool("search", {"query": "one?"}))["conversationId"]}
        await client.call_tool("update_conversation", {**same, "tags": ["kept"]})
        shown = data_of(await client.call_tool("get_conversation_history", same))
    assert "archivedAfter" not in shown


async def test_what_its_owner_keeps_for_a_time_says_when_it_is_deleted(home: Home) -> None:
    await to_thread.run_sync(open_retention(home.store_url).put, "local", "2h")
    async with serving(home, FakeProvider(), conversation_timeout_hours=36, tools=("research", "manage")) as client:
        same = {"conversationId": data_of(await client.call_tool("search", {"query": "one?"}))["conversationId"]}
        answered = await client.call_tool("search_followup", {**same, "query": "two?"})
        shown = await client.call_tool("get_conversation_history", same)
        await client.call_tool("update_conversation", {**same, "tags": ["kept"]})
        tagged = data_of(await client.call_tool("get_conversation_history", same))
    updated = home.only()["updatedAt"]
    for result in (answered, shown):
        forgotten = data_of(result)["forgottenAfter"]
        assert hours_between(updated, forgotten) == pytest.approx(2, abs=0.01)
        assert f"Forgotten if it is not used before {forgotten}" in text_of(result)
    assert "forgottenAfter" not in tagged or home.store_url.startswith("redis:")
