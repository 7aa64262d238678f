"""Server processes over HTTP that share a folder: any of them answers, one finishes what another left, all end well."""

import os
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.folders import only_conversation
from tests.fixtures.http_process import HttpProcess, http_process
from tests.fixtures.round_robin import round_robin
from tests.fixtures.serving import Era, data_of

from conversation_mcp.records.layout import LOCKS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def called(server: HttpProcess | str, tool: str, era: Era = "auto", **arguments: object) -> dict[str, Any]:
    """Call a tool as a client of its own, as any request behind a balancer is."""
    async with Client(server if isinstance(server, str) else server.url, mode=era) as client:
        await client.list_tools()  # as clients do; without it, the SDK's own asks for the list after the call
        return data_of(await client.call_tool(tool, arguments))


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_requests_that_take_turns_between_two_processes_agree(tmp_path: Path, era: Era) -> None:
    with (
        LoopbackAgent() as agent,
        http_process(tmp_path, base_url=agent.base_url) as one,
        http_process(tmp_path, base_url=agent.base_url) as other,
    ):
        started = await called(one, "search", era, query="Why?")
        named = {"conversationId": started["conversationId"]}
        for number in range(4):
            server = (other, one)[number % 2]
            answered = await called(server, "search_followup", era, query=f"How, {number}?", **named)
            assert answered["turn"] == number + 2
        histories = [await called(server, "get_conversation_history", era, **named) for server in (one, other)]
        assert histories[0] == histories[1]
        assert histories[0]["messageCount"] == 11
        assert agent.creates == 5


async def test_what_a_killed_process_asked_another_one_finishes(tmp_path: Path) -> None:
    with LoopbackAgent() as agent, http_process(tmp_path, base_url=agent.base_url) as other:
        with http_process(tmp_path, base_url=agent.base_url, CONVERSATION_MCP_ANSWER_WAIT_SECONDS="1") as one:
            running = await called(one, "deep_research", query="Why? [[hold]]")
            assert running["status"] == "running"
            one.kill()
        named = {"conversationId": running["conversationId"]}
        agent.release()
        with anyio.fail_after(60):
            while "pendingTurn" in (  # noqa: ASYNC110 -- nobody tells of the end
                history := await called(other, "get_conversation_history", **named)
            ):
                await anyio.sleep(0.1)
        assert [message["role"] for message in history["messages"]][-2:] == ["user", "assistant"]
        assert agent.creates == 1


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_behind_a_balancer_a_conversation_goes_on_when_one_of_two_servers_is_killed_in_a_turn(
    tmp_path: Path, era: Era
) -> None:
    short = {"CONVERSATION_MCP_ANSWER_WAIT_SECONDS": "1"}
    with (
        LoopbackAgent() as agent,
        http_process(tmp_path, base_url=agent.base_url, **short) as one,
        http_process(tmp_path, base_url=agent.base_url, **short) as other,
        round_robin(one.url, other.url) as (url, balancer),
    ):
        named = {"conversationId": (await called(url, "search", era, query="Why?"))["conversationId"]}
        for number in range(2):
            await called(url, "search_followup", era, query=f"How, {number}?", **named)
        assert len(set(balancer.given)) == 2
        running = await called(url, "deep_research_followup", era, query="And why that? [[hold]]", **named)
        assert running["status"] == "running"
        holder = next(server for server in (one, other) if _has_turn(server))
        holder.kill()
        agent.release()
        with anyio.fail_after(60):
            while "pendingTurn" in (  # noqa: ASYNC110 -- nobody tells of the end
                history := await called(url, "get_conversation_history", era, **named)
            ):
                await anyio.sleep(0.1)
        assert history["messageCount"] == 9
        assert history["messages"][-1]["role"] == "assistant"
        answered = await called(url, "search_followup", era, query="Thanks?", **named)
        assert (answered["turn"], agent.creates) == (5, 5)


async def test_a_server_that_is_told_to_end_answers_what_it_can_and_takes_nothing_more(tmp_path: Path) -> None:
    with LoopbackAgent() as agent, http_process(tmp_path, base_url=agent.base_url) as server:
        results: list[dict[str, Any]] = []

        async def ask() -> None:
            results.append(await called(server, "search", query="Why? [[delay:1]]"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await to_thread.run_sync(partial(agent.wait_until, lambda agent: agent.creates == 1))
            assert await to_thread.run_sync(server.end) == 0
        assert results[0]["status"] == "completed"
    assert "pendingTurn" not in only_conversation(tmp_path)


async def test_a_run_that_goes_on_elsewhere_does_not_keep_a_server_from_ending(tmp_path: Path) -> None:
    with LoopbackAgent() as agent:
        with http_process(tmp_path, base_url=agent.base_url) as server:

            async def ask() -> None:
                results.append(await called(server, "deep_research", query="Why? [[hold]]"))

            results: list[dict[str, Any]] = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                await to_thread.run_sync(partial(agent.wait_until, lambda agent: agent.creates == 1))
                assert await to_thread.run_sync(server.end) == 0
        assert results[0]["status"] == "running"
        assert only_conversation(tmp_path)["pendingTurn"]["status"] == "running"


async def test_workers_share_a_port_and_one_that_dies_is_replaced(tmp_path: Path) -> None:
    with LoopbackAgent() as agent, http_process(tmp_path, "--workers", "2", base_url=agent.base_url) as server:
        with anyio.fail_after(60):
            started = await _patiently(server, "search", query="Why?")
        named = {"conversationId": started["conversationId"]}
        workers = [child for child in _children(server.process.pid) if "spawn_main" in _command(child)]
        assert len(workers) == 2
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        with anyio.fail_after(60):
            history = await _patiently(server, "get_conversation_history", **named)
        assert history["messageCount"] == 3
        assert await to_thread.run_sync(server.end) == 0


def _has_turn(server: HttpProcess) -> bool:
    """Tell whether the server holds the lock of a turn."""
    folder = Path(f"/proc/{server.process.pid}/fd")
    with suppress(FileNotFoundError):  # closed meanwhile
        return any(f"/{LOCKS}/" in str(each.readlink()) for each in folder.iterdir())
    return False


async def _patiently(server: HttpProcess, tool: str, **arguments: str) -> dict[str, Any]:
    while True:
        try:
            return await called(server, tool, "auto", **arguments)
        except Exception:  # noqa: BLE001 -- the workers are being started
            await anyio.lowlevel.checkpoint()


def _children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(each) for each in found.split()]


def _command(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace")
