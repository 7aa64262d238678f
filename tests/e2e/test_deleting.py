"""Deleting conversations and stopping their questions."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from dirty_equals import IsPartialDict, IsStr
from inline_snapshot import snapshot
from mcp import Client
from tests.fixtures.cli import anonymous
from tests.fixtures.homes import Home
from tests.fixtures.managing import BOTH, BRANCH, CANCEL, DELETE, MERGE, UPDATE, asked, listed
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import RunCancelledError

UNKNOWN, OTHER_UNKNOWN = "20260131-1769817600999", "20260131-1769817600998"


@pytest.fixture
async def provider() -> FakeProvider:
    return FakeProvider()


@pytest.fixture
async def client(home: Home, provider: FakeProvider) -> AsyncGenerator[Client]:
    async with serving(home, provider, tools=BOTH) as client:
        yield client


async def test_a_deleted_conversation_is_gone_and_says_how_it_comes_back(client: Client) -> None:
    other, conversation_id = await asked(client, "kept?"), await asked(client, "gone?")
    result = await client.call_tool(DELETE, {"conversationId": conversation_id})
    assert anonymous(text_of(result)) == snapshot("""\
Conversation 20260131-1769817600000 deleted · gone? · 3 messages

It is in the trash; `conversation-mcp trash restore 20260131-1769817600000` brings it back.\
""")
    assert data_of(result) == IsPartialDict(
        conversationId=conversation_id, title="gone?", messageCount=3, conversationPath=IsStr(regex=r".*/\.trash/.*")
    )
    assert await listed(client) == [other]
    assert await listed(client, query="gone") == []
    for tool, more in ((DELETE, {}), ("get_conversation_history", {}), ("search_followup", {"query": "and?"})):
        error = error_of(await client.call_tool(tool, {"conversationId": conversation_id, **more}))
        assert error["code"] == "CONVERSATION_NOT_FOUND"


async def test_a_damaged_conversation_can_be_deleted(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), tools=BOTH) as client:
        conversation_id = await asked(client, "one?")
        path = tmp_path / "conversation-logs" / conversation_id / "conversation.json"
        await to_thread.run_sync(path.write_text, "{")
        result = await client.call_tool(DELETE, {"conversationId": conversation_id})
    assert "is not valid JSON" in data_of(result)["problem"]
    assert not path.exists()


@pytest.mark.parametrize("tool", [BRANCH, MERGE, UPDATE, CANCEL, DELETE])
@pytest.mark.parametrize(
    ("named", "code"), [(UNKNOWN, "CONVERSATION_NOT_FOUND"), ("../x", "VALIDATION_ERROR"), ("", "VALIDATION_ERROR")]
)
async def test_an_id_that_is_none_or_unknown_is_refused_and_leaves_no_trace(
    client: Client, home: Home, tool: str, named: str, code: str
) -> None:
    more = {BRANCH: {"messageNumber": 1}, UPDATE: {"title": "x"}}.get(tool, {})
    arguments = {"conversationIds": [named, OTHER_UNKNOWN]} if tool == MERGE else {"conversationId": named, **more}
    error = error_of(await client.call_tool(tool, arguments))
    assert error["code"] == code
    assert not (home.folder / "conversation-logs").exists()
    assert home.ids() == []


async def test_a_deletion_waits_for_the_running_question(home: Home) -> None:
    release, at_provider = anyio.Event(), anyio.Event()
    results: list[dict[str, Any]] = []
    async with serving(
        home, FakeProvider(held(release, at_provider)), tools=BOTH, answer_wait_seconds=0.01, lock_wait_seconds=60
    ) as client:
        conversation_id = await asked(client, "slow?")
        await at_provider.wait()

        async def delete() -> None:
            results.append(data_of(await client.call_tool(DELETE, {"conversationId": conversation_id})))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(delete)
            await anyio.wait_all_tasks_blocked()
            release.set()
    assert results[0]["messageCount"] == 3


async def test_a_deletion_that_waited_too_long_says_how_to_wait_or_cancel(home: Home) -> None:
    release, at_provider = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(release, at_provider))
    provider.runs["resp_held"] = RunCancelledError("fake")
    async with serving(home, provider, tools=BOTH, answer_wait_seconds=0.01, lock_wait_seconds=0) as client:
        conversation_id = await asked(client, "slow?")
        await at_provider.wait()
        error = error_of(await client.call_tool(DELETE, {"conversationId": conversation_id}))
        assert anonymous(error["message"]) == snapshot(
            "another follow-up on 20260131-1769817600000 is still running; waited 0 s for it. Try again, or wait for it with get_conversation_history and waitSeconds 50; cancel_turn stops it."
        )
        assert error["code"] == "CONVERSATION_BUSY"
        stopped = await client.call_tool(CANCEL, {"conversationId": conversation_id})
        assert anonymous(text_of(stopped)) == snapshot("""\
Conversation 20260131-1769817600000 · the question was stopped · what was billed is not known

slow?

Follow up: search_followup or deep_research_followup with conversationId 20260131-1769817600000.\
""")
        assert data_of(stopped)["pendingTurn"] == IsPartialDict(question="slow?", status="failed")
        data_of(await client.call_tool(DELETE, {"conversationId": conversation_id}))
        assert await listed(client) == []
    assert provider.cancelled == ["resp_held"]


async def test_there_is_nothing_to_cancel_where_nothing_runs(client: Client) -> None:
    conversation_id = await asked(client, "one?")
    error = error_of(await client.call_tool(CANCEL, {"conversationId": conversation_id}))
    assert error["message"] == f"no question of {conversation_id} is being answered."


async def test_deleting_twice_at_once_succeeds_once(client: Client) -> None:
    conversation_id = await asked(client, "one?")
    codes: list[str] = []

    async def delete() -> None:
        result = await client.call_tool(DELETE, {"conversationId": conversation_id})
        codes.append(error_of(result)["code"] if result.is_error else "ok")

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(delete)
    assert sorted(codes) == ["CONVERSATION_NOT_FOUND"] * 4 + ["ok"]


async def test_a_budget_counts_what_was_deleted_and_a_branch_once(home: Home) -> None:
    async with serving(home, FakeProvider(), tools=BOTH, max_cost_usd_per_day=0.75) as client:
        deleted, kept = await asked(client, "one?"), await asked(client, "two?")
        await client.call_tool(DELETE, {"conversationId": deleted})
        await client.call_tool(BRANCH, {"conversationId": kept, "messageNumber": 3})
        data_of(await client.call_tool("search", {"query": "three?"}))
        error = error_of(await client.call_tool("search", {"query": "four?"}))
    assert error["code"] == "BUDGET_REACHED"
    assert "$0.75 were spent today" in error["message"]
