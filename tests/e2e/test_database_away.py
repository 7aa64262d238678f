"""A server whose database goes away: it says so, loses no answer that was paid for, and goes on when it is back."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from mcp import Client
from mcp.types import CallToolResult
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.gates import Gate, to_unix_socket
from tests.fixtures.http_process import http_process
from tests.fixtures.replicas import called
from tests.fixtures.serving import data_of, error_of, text_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def gate(database: PostgreSQL) -> Iterator[Gate]:
    with Gate(to_unix_socket(f"{database.folder}/.s.PGSQL.5432")) as gate:
        yield gate


@pytest.fixture
def store(database: PostgreSQL, gate: Gate) -> Iterator[dict[str, str]]:
    """The setting that names a database behind the gate."""
    url = database.database()
    name = url.partition("@/")[2].partition("?")[0]
    yield {"CONVERSATION_MCP_STORE": f"postgresql://conversations:hidden@127.0.0.1:{gate.port}/{name}"}
    database.drop(url)


def readiness(url: str) -> int:
    """Return what the probe of readiness is told."""
    try:
        with urllib.request.urlopen(url.replace("/mcp", "/ready"), timeout=60) as answer:  # noqa: S310 -- loopback
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


async def test_a_server_that_starts_without_its_database_is_not_ready_until_it_comes(
    tmp_path: Path, gate: Gate, store: dict[str, str]
) -> None:
    gate.shut()
    with LoopbackAgent() as agent, http_process(tmp_path, base_url=agent.base_url, **store) as server:
        assert await to_thread.run_sync(readiness, server.url) == 503
        async with Client(server.url) as client:
            refused = await client.call_tool("search", {"query": "Why?"})
        assert error_of(refused)["retryable"] is True
        assert "the database cannot be reached" in text_of(refused)
        assert "hidden" not in text_of(refused)
        assert agent.creates == 0
        gate.open()
        with anyio.fail_after(30):
            while await to_thread.run_sync(readiness, server.url) != 200:
                pass
        assert (await called(server.url, "search", query="Why?"))["status"] == "completed"


async def test_an_answer_that_comes_while_the_database_is_away_is_given_and_written_later(
    tmp_path: Path, gate: Gate, store: dict[str, str]
) -> None:
    results: list[CallToolResult] = []
    with LoopbackAgent() as agent, http_process(tmp_path, base_url=agent.base_url, **store) as server:
        started = await called(server.url, "search", query="Why?")
        named = {"conversationId": started["conversationId"]}

        async def ask() -> None:
            async with Client(server.url) as client:
                results.append(await client.call_tool("search_followup", {"query": "How? [[hold]]", **named}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await to_thread.run_sync(partial(agent.wait_until, lambda agent: agent.creates == 2))
            await to_thread.run_sync(gate.shut)
            agent.release()
        assert "THIS ANSWER IS NOT SAVED" in text_of(results[0])
        answer = data_of(results[0])["rawResultText"]
        gate.open()
        with anyio.fail_after(60):
            while "pendingTurn" in (history := await called(server.url, "get_conversation_history", **named)):
                pass
        assert history["messages"][-1]["content"] == answer
        followed = await called(server.url, "search_followup", query="And?", **named)
        assert followed["turn"] == 3
        assert agent.creates == 3
