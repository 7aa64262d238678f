"""Server processes on one database, as behind a balancer: any serves any turn, and none that dies costs a question."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.replicas import called, replicas
from tests.fixtures.serving import Era, data_of, error_of

from conversation_mcp.stores.postgresql.leases import LEASE_SECONDS

BRIEF = {"CONVERSATION_MCP_ANSWER_WAIT_SECONDS": "1"}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def url(database: PostgreSQL) -> Iterator[str]:
    url = database.database()
    yield url
    database.drop(url)


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


async def waited_for(agent: LoopbackAgent, creates: int) -> None:
    await to_thread.run_sync(partial(agent.wait_until, lambda agent: agent.creates == creates))


async def research_known(url: str, conversation_id: str) -> None:
    """Wait until the id of the run is stored, by which another process fetches its answer."""
    with anyio.fail_after(30):
        history: dict[str, Any] = {"pendingTurn": {}}
        while "responseId" not in history["pendingTurn"]:
            history = await called(url, "get_conversation_history", conversationId=conversation_id)


async def settled(url: str, conversation_id: str) -> dict[str, Any]:
    """Return the history once no question of it waits any more."""
    with anyio.fail_after(LEASE_SECONDS * 3):
        while "pendingTurn" in (  # noqa: ASYNC110 -- nobody tells of the end
            history := await called(url, "get_conversation_history", conversationId=conversation_id)
        ):
            await anyio.sleep(0.2)
    return history


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_each_request_may_reach_another_replica(tmp_path: Path, url: str, agent: LoopbackAgent, era: Era) -> None:
    with replicas(tmp_path, url, agent.base_url, number=3) as these:
        every = [each.url for each in these.all]
        started = await called(every[0], "search", era, query="Why?")
        named = {"conversationId": started["conversationId"]}
        for number in range(6):
            answered = await called(every[(number + 1) % 3], "search_followup", era, query=f"How, {number}?", **named)
            assert answered["turn"] == number + 2
        histories = [await called(each, "get_conversation_history", era, **named) for each in every]
        assert histories[0] == histories[1] == histories[2]
        assert agent.creates == 7


async def test_a_client_talks_through_the_balancer_as_to_one_server(
    tmp_path: Path, url: str, agent: LoopbackAgent
) -> None:
    with replicas(tmp_path, url, agent.base_url) as these:
        started = await called(these.url, "search", query="Why?")
        for number in range(4):
            await called(
                these.url, "search_followup", query=f"How, {number}?", conversationId=started["conversationId"]
            )
        listed = await called(these.url, "list_conversations")
        assert [each["messageCount"] for each in listed["conversations"]] == [11]


async def test_a_call_that_runs_elsewhere_is_joined_with_its_progress_and_paid_once(
    tmp_path: Path, url: str, agent: LoopbackAgent
) -> None:
    lines: list[str] = []
    joining = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        lines.append(message or "")
        if "already being answered" in lines[-1]:
            joining.set()

    results: list[dict[str, Any]] = []

    async def ask(url: str) -> None:
        async with Client(url, mode="legacy") as client:
            given = {"query": "Why? [[hold]]"}
            results.append(data_of(await client.call_tool("search", given, progress_callback=hear)))

    with replicas(tmp_path, url, agent.base_url) as these:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, these.all[0].url)
            await waited_for(agent, 1)
            tasks.start_soon(ask, these.all[1].url)
            with anyio.fail_after(30):
                await joining.wait()
            agent.release()
    assert results[0]["conversationId"] == results[1]["conversationId"]
    assert results[0]["rawResultText"] == results[1]["rawResultText"]
    assert agent.creates == 1


async def test_a_follow_up_waits_for_the_turn_that_another_replica_runs(
    tmp_path: Path, url: str, agent: LoopbackAgent
) -> None:
    results: list[dict[str, Any]] = []
    with replicas(tmp_path, url, agent.base_url) as these:
        one, other = (each.url for each in these.all)
        named = {"conversationId": (await called(one, "search", query="Why?"))["conversationId"]}

        async def follow(url: str, query: str) -> None:
            results.append(await called(url, "search_followup", query=query, **named))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, one, "How? [[hold]]")
            await waited_for(agent, 2)
            tasks.start_soon(follow, other, "And then?")
            await anyio.sleep(1)
            assert agent.creates == 2
            agent.release()
    assert [each["turn"] for each in results] == [2, 3]


async def test_a_turn_is_stopped_at_another_replica(tmp_path: Path, url: str, agent: LoopbackAgent) -> None:
    with replicas(tmp_path, url, agent.base_url, {"CONVERSATION_MCP_TOOLS": "research,manage", **BRIEF}) as these:
        one, other = (each.url for each in these.all)
        running = await called(one, "search", query="Why? [[hold]]")
        assert running["status"] == "running"
        named = {"conversationId": running["conversationId"]}
        await called(other, "cancel_turn", **named)
        history = await called(other, "get_conversation_history", **named)
        assert "pendingTurn" not in history or history["pendingTurn"]["status"] != "running"


async def test_what_a_killed_replica_asked_another_fetches_once_its_lease_lapsed(
    tmp_path: Path, url: str, agent: LoopbackAgent
) -> None:
    with replicas(tmp_path, url, agent.base_url, BRIEF) as these:
        running = await called(these.all[0].url, "deep_research", query="Why? [[hold]]")
        assert running["status"] == "running"
        await research_known(these.url, running["conversationId"])
        these.all[0].kill()
        agent.release()
        history = await settled(these.url, running["conversationId"])
        assert [message["role"] for message in history["messages"]][-2:] == ["user", "assistant"]
        followed = await called(these.url, "search_followup", query="And?", conversationId=running["conversationId"])
        assert followed["turn"] == 2
    assert agent.creates == 2


async def test_a_replica_that_was_suspended_writes_nothing_after_another_took_its_turn(
    tmp_path: Path, url: str, agent: LoopbackAgent
) -> None:
    with replicas(tmp_path, url, agent.base_url, BRIEF) as these:
        one, other = these.all
        running = await called(one.url, "deep_research", query="Why? [[hold]]")
        named = {"conversationId": running["conversationId"]}
        await research_known(other.url, named["conversationId"])
        os.kill(one.process.pid, signal.SIGSTOP)
        try:
            agent.release()
            fetched = await settled(other.url, running["conversationId"])
            followed = await called(other.url, "search_followup", query="And?", **named)
        finally:
            os.kill(one.process.pid, signal.SIGCONT)
        with anyio.fail_after(60):
            again = await called(one.url, "deep_research", query="Why? [[hold]]")  # it knows of the call and its end
        assert again["conversationId"] != running["conversationId"] or again["status"] == "completed"
        history = await called(one.url, "get_conversation_history", **named)
        assert history["messageCount"] == fetched["messageCount"] + 2
        assert history["messages"][-1]["content"] == followed["rawResultText"]


async def test_rates_are_counted_over_all_replicas(tmp_path: Path, url: str, agent: LoopbackAgent) -> None:
    limits = {"CONVERSATION_MCP_MAX_QUESTIONS_PER_MINUTE": "3"}
    with replicas(tmp_path, url, agent.base_url, limits) as these:
        every = [each.url for each in these.all]
        for number in range(3):
            await called(every[number % 2], "search", query=f"Why, {number}?")
        for each in every:
            async with Client(each) as client:
                assert error_of(await client.call_tool("search", {"query": "One more?"}))["code"] == "RATE_LIMITED"


async def test_what_one_replica_spent_today_counts_at_the_others(
    tmp_path: Path, url: str, agent: LoopbackAgent
) -> None:
    with replicas(tmp_path, url, agent.base_url, {"CONVERSATION_MCP_MAX_COST_USD_PER_DAY": "0.005"}) as these:
        one, other = (each.url for each in these.all)
        first = await called(one, "search", query="Why?")
        await called(other, "search_followup", query="How?", conversationId=first["conversationId"])
        for each in (one, other):
            async with Client(each) as client:
                refused = error_of(await client.call_tool("search", {"query": "One more?"}))
                assert refused["code"] == "BUDGET_REACHED"
    assert agent.creates == 2
