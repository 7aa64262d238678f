"""The tools that put conversations in order, through the in-memory client."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict
from inline_snapshot import snapshot
from mcp import Client
from tests.fixtures.cli import anonymous
from tests.fixtures.folders import ID, abandoned
from tests.fixtures.homes import Home
from tests.fixtures.managing import BOTH, BRANCH, CANCEL, DELETE, EXPORT, LIST, MERGE, UPDATE, asked, listed
from tests.fixtures.providers import FakeProvider, failing, held
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import ProviderQuotaError
from conversation_mcp.records.chat import ChatMessage


@pytest.fixture
async def provider() -> FakeProvider:
    return FakeProvider()


@pytest.fixture
async def client(home: Home, provider: FakeProvider) -> AsyncGenerator[Client]:
    async with serving(home, provider, tools=BOTH) as client:
        yield client


def stored(folder: Path, conversation_id: str) -> dict[str, Any]:
    return json.loads((folder / "conversation-logs" / conversation_id / "conversation.json").read_bytes())


def write(folder: Path, conversation_id: str, **changes: object) -> None:
    """Edit the file as a person does."""
    path = folder / "conversation-logs" / conversation_id / "conversation.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}))


async def test_the_set_is_off_until_it_is_switched_on(home: Home) -> None:
    async with serving(home, FakeProvider()) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not names & {BRANCH, MERGE, UPDATE, CANCEL, DELETE, EXPORT}
    async with serving(home, FakeProvider(), tools=("manage",)) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [BRANCH, MERGE, UPDATE, CANCEL, DELETE, EXPORT]
        destructive = [tool.name for tool in tools if tool.annotations and tool.annotations.destructive_hint]
        assert destructive == [DELETE]


async def test_a_branch_goes_on_from_an_answer_and_leaves_the_original_alone(
    client: Client, provider: FakeProvider, home: Home
) -> None:
    original = await asked(client, "one?", "two?", "three?")
    home.edit(original, title="Mine", tags=["a"], archived=True, note={"x": 1})
    before = home.stored(original)
    result = await client.call_tool(BRANCH, {"conversationId": original, "messageNumber": 5})
    branch = data_of(result)["conversationId"]
    assert home.stored(original) == before
    kept = home.stored(branch)
    assert kept == IsPartialDict(
        conversationId=branch,
        title="Mine",
        tags=["a"],
        note={"x": 1},
        parent={"conversationId": original, "messageCount": 5},
        messageCount=5,
        messages=before["messages"][:5],
    )
    assert "archived" not in kept
    assert kept["createdAt"] == kept["updatedAt"] > before["createdAt"]
    await client.call_tool("search_followup", {"conversationId": branch, "query": "three, but otherwise?"})
    assert [message.content for message in provider.requests[-1].messages if message.role == "user"] == [
        "one?",
        "two?",
        "three, but otherwise?",
    ]
    assert await listed(client) == [branch]
    assert anonymous(text_of(result)) == snapshot("""\
Conversation 20260131-1769817600000 · Mine · 5 messages

Tags: a

Branched from 20260131-1769817600000 after message 5

Follow up: search_followup or deep_research_followup with conversationId 20260131-1769817600000.\
""")


async def test_a_merge_sends_what_all_of_its_conversations_know(client: Client, provider: FakeProvider) -> None:
    first, second = await asked(client, "one?"), await asked(client, "two?")
    result = await client.call_tool(MERGE, {"conversationIds": [first, second]})
    merge = data_of(result)
    assert merge["parents"] == [
        {"conversationId": first, "messageCount": 3},
        {"conversationId": second, "messageCount": 2},
    ]
    assert f"Merged from {first} (3 messages) and {second} (2 messages)" in text_of(result)
    await client.call_tool("search_followup", {"conversationId": merge["conversationId"], "query": "and both?"})
    sent = [message.content for message in provider.requests[-1].messages if message.role == "user"]
    assert sent == ["one?", "two?", "and both?"]
    shown = await client.call_tool("get_conversation_history", {"conversationId": merge["conversationId"]})
    assert data_of(shown)["parents"] == merge["parents"]
    assert "Merged from" in text_of(shown)


async def test_a_merge_of_one_conversation_is_refused(client: Client) -> None:
    only = await asked(client, "one?")
    error = error_of(await client.call_tool(MERGE, {"conversationIds": [only, only]}))
    assert error["message"] == "merging needs at least two different conversations."
    assert await listed(client) == [only]


async def test_a_branch_costs_nothing_again(client: Client) -> None:
    original = await asked(client, "one?", "two?")
    await client.call_tool(BRANCH, {"conversationId": original, "messageNumber": 5})
    page = data_of(await client.call_tool(LIST, {}))["conversations"]
    assert [one.get("costUsd") for one in page] == [None, 0.5]


async def test_a_branch_leaves_questions_without_an_answer_behind(home: Home) -> None:
    failed = abandoned(status="failed", error={"code": "X", "message": "Broken."})
    home.put({**failed, "unansweredTurns": [{"question": "zero?"}]})
    async with serving(home, FakeProvider(), tools=BOTH) as client:
        branch = data_of(await client.call_tool(BRANCH, {"conversationId": ID, "messageNumber": 3}))["conversationId"]
    kept = home.stored(branch)
    assert not {"pendingTurn", "unansweredTurns"} & kept.keys()


async def test_a_branch_at_the_system_message_begins_anew(client: Client, provider: FakeProvider) -> None:
    original = await asked(client, "one?")
    branch = data_of(await client.call_tool(BRANCH, {"conversationId": original, "messageNumber": 1}))
    await client.call_tool("search_followup", {"conversationId": branch["conversationId"], "query": "else?"})
    assert provider.requests[-1].messages[1:] == (ChatMessage("user", "else?"),)


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (2, "messageNumber must be 1 or 3: message 2 is a question, and a branch ends at an answer."),
        (6, "messageNumber must be 5: {id} has messages 1 to 5."),
        (10**30, "messageNumber must be 5: {id} has messages 1 to 5."),
        (0, "messageNumber must be at least 1; got 0."),
        (-1, "messageNumber must be at least 1; got -1."),
        (1.5, "messageNumber must be a whole number; got 1.5."),
        ("three", "messageNumber must be a whole number; got 'three'."),
        (True, "messageNumber must be a whole number; got True."),
    ],
)
async def test_a_branch_where_no_question_can_follow_is_refused_without_a_trace(
    client: Client, number: object, problem: str
) -> None:
    original = await asked(client, "one?", "two?")
    error = error_of(await client.call_tool(BRANCH, {"conversationId": original, "messageNumber": number}))
    assert (error["code"], error["message"]) == ("VALIDATION_ERROR", problem.format(id=original))
    assert await listed(client) == [original]


async def test_a_conversation_without_an_answer_can_only_be_branched_at_its_system_message(home: Home) -> None:
    async with serving(home, FakeProvider(failing(ProviderQuotaError("fake"))), tools=BOTH) as client:
        await client.call_tool("search", {"query": "one?"})
        [only] = await listed(client)
        data_of(await client.call_tool(BRANCH, {"conversationId": only, "messageNumber": 1}))
        home.edit(only, messages=[{"role": "user", "content": "?"}])
        error = error_of(await client.call_tool(BRANCH, {"conversationId": only, "messageNumber": 1}))
    assert error["message"] == f"no message of {only} is an answer, so it cannot be branched."


async def test_titles_tags_and_archiving_are_seen_by_the_next_list(client: Client) -> None:
    first, second = await asked(client, "first?"), await asked(client, "second?")
    result = await client.call_tool(
        UPDATE, {"conversationId": first, "title": "  Zebra\n\x1b[31m crossing ", "tags": ["Rust", " rust ", "b-tree"]}
    )
    assert anonymous(text_of(result)) == snapshot("""\
Conversation 20260131-1769817600000 · Zebra [31m crossing · 3 messages

Tags: Rust, b-tree\
""")
    assert await listed(client, query="zebra") == await listed(client, tag="RUST") == [first]
    assert await listed(client) == [first, second]
    await client.call_tool(UPDATE, {"conversationId": first, "tags": [], "title": ""})
    assert await listed(client, tag="rust") == await listed(client, query="zebra") == []
    await client.call_tool(UPDATE, {"conversationId": second, "archived": True})
    assert (await listed(client), await listed(client, state="archived")) == ([first], [second])
    await client.call_tool(UPDATE, {"conversationId": second, "archived": False})
    assert await listed(client) == [second, first]


async def test_empty_values_leave_the_file_and_the_rest_stays(client: Client, home: Home) -> None:
    conversation_id = await asked(client, "one?")
    before = home.stored(conversation_id)
    await client.call_tool(UPDATE, {"conversationId": conversation_id, "title": "T", "tags": '["a"]', "archived": True})
    changed = home.stored(conversation_id)
    assert changed == {**before, "title": "T", "tags": ["a"], "archived": True, "updatedAt": changed["updatedAt"]}
    await client.call_tool(UPDATE, {"conversationId": conversation_id, "title": " ", "tags": [""], "archived": False})
    cleared = home.stored(conversation_id)
    assert cleared == {**before, "updatedAt": cleared["updatedAt"]}


async def test_an_update_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), tools=BOTH) as client:
        conversation_id = await asked(client, "one?")
        path = tmp_path / "conversation-logs" / conversation_id / "conversation.json"
        before = path.stat()
        await client.call_tool(UPDATE, {"conversationId": conversation_id, "title": "", "tags": [], "archived": False})
    assert path.stat().st_ino == before.st_ino


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "update_conversation needs title, tags or archived."),
        ({"title": "x" * 201}, "title must be at most 200 characters long; got 201."),
        ({"tags": ["x" * 51]}, "a tag must be at most 50 characters long; got 51."),
        ({"tags": [str(number) for number in range(51)]}, "a conversation can have up to 50 tags; got 51."),
        ({"tags": {"rust": 1}}, 'tags must be a list of words such as ["rust", "decision"].'),
        ({"tags": [1]}, 'tags must be a list of words such as ["rust", "decision"].'),
        ({"archived": "maybe"}, "archived must be true or false; got 'maybe'."),
    ],
    ids=str,
)
async def test_an_update_that_cannot_be_taken_is_refused(
    client: Client, arguments: dict[str, object], problem: str
) -> None:
    conversation_id = await asked(client, "one?")
    error = error_of(await client.call_tool(UPDATE, {"conversationId": conversation_id, **arguments}))
    assert (error["code"], error["message"]) == ("VALIDATION_ERROR", problem)


async def test_text_of_any_kind_is_a_title_and_a_tag(client: Client) -> None:
    conversation_id = await asked(client, "one?")
    odd = {"title": "会话 ไทย \ud83d \u2028 x", "tags": ["日本", "ไทย", "a\0b", "\u202ex"]}
    updated = data_of(await client.call_tool(UPDATE, {"conversationId": conversation_id, **odd}))
    assert updated["title"] == "会话 ไทย \ufffd x"
    for tag in ("日本", "ไทย", "a b"):
        assert await listed(client, tag=tag) == [conversation_id]


async def test_an_update_does_not_wait_for_a_running_turn_and_survives_it(home: Home) -> None:
    release, at_provider = anyio.Event(), anyio.Event()
    async with serving(home, FakeProvider(held(release, at_provider)), tools=BOTH, answer_wait_seconds=0.01) as client:
        conversation_id = await asked(client, "slow?")
        await at_provider.wait()
        data_of(await client.call_tool(UPDATE, {"conversationId": conversation_id, "title": "Meanwhile"}))
        data_of(await client.call_tool(BRANCH, {"conversationId": conversation_id, "messageNumber": 1}))
        release.set()
        with anyio.fail_after(60):
            while len((kept := home.stored(conversation_id))["messages"]) < 3:
                await anyio.lowlevel.checkpoint()
    assert kept["title"] == "Meanwhile"


async def test_a_question_brings_an_archived_conversation_back(client: Client) -> None:
    conversation_id = await asked(client, "one?")
    await client.call_tool(UPDATE, {"conversationId": conversation_id, "archived": True})
    await client.call_tool("search_followup", {"conversationId": conversation_id, "query": "two?"})
    assert await listed(client) == [conversation_id]


async def test_what_another_server_does_is_in_the_next_list(home: Home) -> None:
    async with (
        serving(home, FakeProvider(), tools=BOTH) as one,
        serving(home, FakeProvider(), tools=BOTH) as two,
    ):
        first, second = await asked(one, "first?"), await asked(one, "second?")
        assert await listed(two) == [second, first]
        await one.call_tool(UPDATE, {"conversationId": first, "title": "Renamed", "tags": ["t"]})
        assert await listed(two, query="renamed") == await listed(two, tag="t") == [first]
        await one.call_tool(DELETE, {"conversationId": second})
        assert await listed(two) == [first]
        branch = data_of(await one.call_tool(BRANCH, {"conversationId": first, "messageNumber": 3}))["conversationId"]
        assert await listed(two) == [branch, first]
