"""The tool `list_conversations` through the client: what was asked is found again, by words and by facts."""

import json
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from inline_snapshot import snapshot
from mcp import Client
from tests.fixtures.homes import Home
from tests.fixtures.library import Shelf
from tests.fixtures.providers import FakeProvider, failing, held
from tests.fixtures.serving import Era, data_of, error_of, serving, text_of

from conversation_mcp.errors import ProviderQuotaError

LIST = "list_conversations"


@pytest.fixture
async def client(home: Home) -> AsyncGenerator[Client]:
    async with serving(home, FakeProvider()) as opened:
        yield opened


async def asked(client: Client, question: str, **arguments: object) -> str:
    return data_of(await client.call_tool("search", {"query": question, **arguments}))["conversationId"]


async def ids(client: Client, **arguments: object) -> list[str]:
    page = data_of(await client.call_tool(LIST, arguments))
    return [listed["conversationId"] for listed in page["conversations"]]


def plain(text: str, *names: str) -> str:
    for number, name in enumerate(names, 1):
        text = text.replace(name, f"ID{number}")
    return text


def without_times(page: dict[str, Any]) -> dict[str, Any]:
    for listed in page["conversations"]:
        del listed["createdAt"], listed["updatedAt"]
    return page


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_both_forms_say_the_same_and_are_short(home: Home, era: Era) -> None:
    async with serving(home, FakeProvider(), era=era) as client:
        first = await asked(client, "What is a B-tree?")
        second = await asked(client, "How are pages laid out?")
        await client.call_tool("deep_research_followup", {"conversationId": first, "query": "And deletions?"})
        result = await client.call_tool(LIST, {})
        searched = await client.call_tool(LIST, {"query": "deletion", "limit": 1})
    times = [listed["updatedAt"] for listed in data_of(result)["conversations"]]
    assert plain(text_of(result), first, second, *times) == snapshot("""\
2 conversations

ID1 · What is a B-tree? · 5 messages · $0.50 · updated ID3
  Last question: And deletions?

ID2 · How are pages laid out? · 3 messages · $0.25 · updated ID4\
""")
    assert without_times(data_of(searched)) == {
        "conversations": [
            {
                "conversationId": first,
                "title": "What is a B-tree?",
                "messageCount": 5,
                "lastQuestion": "And deletions?",
                "costUsd": 0.5,
                "snippet": "And **deletions**?",
                "messageNumber": 4,
            }
        ],
        "unreadableCount": 0,
    }
    assert "  #4: And **deletions**?" in text_of(searched)


async def test_a_conversation_is_found_by_words_and_continued(client: Client) -> None:
    wanted = await asked(client, "Wie funktioniert ein B-Baum?")
    await asked(client, "会话历史怎么保存？")
    [found] = await ids(client, query="b-baum")
    assert found == wanted
    await client.call_tool("search_followup", {"conversationId": found, "query": "Und das Löschen?"})
    assert await ids(client, query="loschen") == [wanted]
    assert len(await ids(client, query="会话")) == 1


async def test_no_conversations_are_an_answer_too(client: Client) -> None:
    result = await client.call_tool(LIST, {"query": "nothing"})
    assert data_of(result) == {"conversations": [], "unreadableCount": 0}
    assert text_of(result) == "No conversations"


async def test_pages_are_walked_with_the_cursor_while_conversations_are_added(client: Client) -> None:
    expected = [await asked(client, f"question {number}?") for number in range(7)][::-1]
    shown: list[str] = []
    arguments: dict[str, object] = {"limit": 3}
    while True:
        result = await client.call_tool(LIST, arguments)
        page = data_of(result)
        shown += [listed["conversationId"] for listed in page["conversations"]]
        if "nextCursor" not in page:
            break
        assert page["nextCursor"] in text_of(result)
        arguments["cursor"] = page["nextCursor"]
        await asked(client, "meanwhile?")
    assert shown == expected


async def test_every_filter_reaches_the_index(client: Client, home: Home) -> None:
    plain_one = await asked(client, "plain?")
    with_model = await asked(client, "with a model?", model="lab/one")
    deep = data_of(await client.call_tool("deep_research", {"query": "deep?"}))["conversationId"]
    assert await ids(client, tool="deep_research") == [deep]
    assert await ids(client, model="lab/one") == [with_model]
    assert await ids(client, provider="fake") == [deep, with_model, plain_one]
    assert await ids(client, after="2099-01-01") == await ids(client, before="2001-01-01T00:00:00Z") == []
    assert len(await ids(client, after="2001-01-01", before="2099-01-01")) == 3

    home.edit(plain_one, tags=["fruit"], title="By hand")
    [listed] = data_of(await client.call_tool(LIST, {"tag": "Fruit"}))["conversations"]
    assert (listed["conversationId"], listed["title"]) == (plain_one, "By hand")


async def test_running_and_failed_questions_are_shown_as_such(home: Home) -> None:
    release, at_provider = anyio.Event(), anyio.Event()
    provider = FakeProvider(failing(ProviderQuotaError("fake")), held(release, at_provider))
    async with serving(home, provider, answer_wait_seconds=0.01) as client:
        await client.call_tool("search", {"query": "too dear?"})
        await client.call_tool("search", {"query": "slow?"})
        await at_provider.wait()
        page = data_of(await client.call_tool(LIST, {}))
        assert [(one["title"], one["state"]) for one in page["conversations"]] == [
            ("slow?", "running"),
            ("too dear?", "failed"),
        ]
        assert len(await ids(client, state="running")) == len(await ids(client, state="failed")) == 1
        release.set()


async def test_what_happened_to_the_folder_outside_is_seen_at_once(tmp_path: Path) -> None:
    logs = tmp_path / "conversation-logs"
    async with serving(tmp_path, FakeProvider()) as client:
        first, second = await asked(client, "first?"), await asked(client, "second?")
        await to_thread.run_sync(shutil.rmtree, logs / first)
        assert await ids(client) == [second]
        await to_thread.run_sync((logs / second / "conversation.json").write_text, "{")
        result = await client.call_tool(LIST, {})
    assert data_of(result)["unreadableCount"] == 1
    assert f"Notice: a conversation that cannot be read was skipped: {logs / second}" in text_of(result)


async def test_a_server_that_starts_anew_finds_the_conversations_of_the_last(home: Home) -> None:
    async with serving(home, FakeProvider()) as client:
        first = await asked(client, "apples?")
    async with serving(home, FakeProvider()) as client:
        assert await ids(client, query="apples") == [first]


async def test_any_query_gets_an_answer(client: Client) -> None:
    await asked(client, "AND OR NOT")
    for query in ["AND", '"', "NEAR(a b)", "a* OR", "\0", "\ud800", "-", "col:x", "(" * 10_000, "", "  "]:
        data_of(await client.call_tool(LIST, {"query": query}))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"limit": 0}, "limit must be at least 1; got 0."),
        ({"limit": 101}, "limit must be at most 100; got 101."),
        ({"limit": "five"}, "limit must be a whole number; got 'five'."),
        ({"state": "open"}, "state must be one of running, interrupted, failed, completed, archived; got 'open'."),
        ({"after": "tomorrow"}, "after must be a date or time such as 2026-01-31 or 2026-01-31T12:00:00Z."),
        ({"query": "x" * 10_001}, "query takes up to 10,000 characters; got 10,001."),
        ({"cursor": "abc"}, "cursor must be the nextCursor of an earlier result, unchanged."),
        ({"tags": "a"}, "list_conversations has no argument 'tags'. Did you mean 'tag'?"),
    ],
    ids=str,
)
async def test_bad_arguments_are_refused_with_what_is_right(
    client: Client, arguments: dict[str, object], problem: str
) -> None:
    error = error_of(await client.call_tool(LIST, arguments))
    assert (error["code"], error["message"]) == ("VALIDATION_ERROR", problem)


async def test_an_unknown_conversation_is_answered_with_where_to_look(client: Client) -> None:
    error = error_of(await client.call_tool("get_conversation_history", {"conversationId": "20260131-1769817600999"}))
    assert "Check the id with list_conversations" in error["message"]


async def test_listing_writes_nothing_into_the_folder(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.root = tmp_path / "conversation-logs"
    shelf.put(1, "apples?")
    before = sorted(shelf.root.rglob("*"))
    async with serving(tmp_path, FakeProvider()) as client:
        assert len(await ids(client, query="apples")) == 1
    assert sorted(shelf.root.rglob("*")) == before


async def test_six_tools_stay_below_what_the_official_server_takes_for_four(client: Client) -> None:
    listing = await client.list_tools()
    assert len(listing.tools) == 6
    tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listing.tools]
    assert len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode()) < 7_150
