"""A whole turn over connections to the database that are cut at each piece of it, or that are slow."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from mcp import Client
from mcp.types import CallToolResult
from tests.fixtures.gates import Gate, to_next_of, to_unix_socket
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import data_of, error_of, serving, text_of
from tests.fixtures.stores import SERVERS

pytestmark = pytest.mark.timeout(300)
PIECES = 70
"""More than a turn sends to the server."""


@pytest.fixture(params=SERVERS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    server = request.getfixturevalue(SERVERS[request.param])
    url = server.database()
    yield url
    server.drop(url)


@pytest.fixture
def gate(url: str, request: pytest.FixtureRequest) -> Iterator[Gate]:
    if url.startswith("redis"):
        port = request.getfixturevalue("valkey_server").port
        connect = to_next_of([port])
    else:
        connect = to_unix_socket(f"{request.getfixturevalue('database').folder}/.s.PGSQL.5432")
    with Gate(connect) as gate:
        yield gate


@pytest.fixture
def through(tmp_path: Path, url: str, gate: Gate) -> Home:
    """A program whose database is behind the gate."""
    if url.startswith("redis"):
        return Home(tmp_path, re.sub(r":\d+/", f":{gate.port}/", url))
    name = url.partition("@/")[2].partition("?")[0]
    return Home(tmp_path, f"postgresql://conversations@127.0.0.1:{gate.port}/{name}")


@pytest.fixture
def _brief_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease whose taker heard nothing of it is soon free again."""
    monkeypatch.setattr("conversation_mcp.stores.postgresql.leases.LEASE_SECONDS", 0.5)
    monkeypatch.setattr("conversation_mcp.stores.redis.leases.LEASE_MILLISECONDS", 500)
    monkeypatch.setattr("conversation_mcp.stores.leases.RENEW_SECONDS", 0.1)


async def asked_until_answered(client: Client, tool: str, **arguments: str) -> dict[str, Any]:
    """Make the same call until it is answered, as a client does that is told to try again."""
    for _ in range(6):
        result = await client.call_tool(tool, arguments)
        if not result.is_error:
            return data_of(result)
        assert error_of(result)["retryable"] is True, error_of(result)
    raise AssertionError("it was not answered in six tries")


@pytest.mark.slow
@pytest.mark.usefixtures("_brief_leases")
async def test_a_turn_that_is_cut_anywhere_is_paid_once_and_its_answer_stored_once(
    tmp_path: Path, url: str, gate: Gate, through: Home
) -> None:
    provider = FakeProvider()
    async with serving(through, provider) as client:
        seen = [await asked_until_answered(client, "search", query="question?")]
        named = {"conversationId": seen[0]["conversationId"]}
        uncut: list[int] = []
        for pieces in range(PIECES):
            gate.left = pieces
            seen.append(await asked_until_answered(client, "search_followup", query=f"question {pieces}?", **named))
            if gate.pass_on():
                uncut.append(pieces)
    assert uncut
    messages = Home(tmp_path, url).stored(named["conversationId"])["messages"][1:]
    questions = ["question?", *(f"question {pieces}?" for pieces in range(PIECES))]
    assert [message["content"] for message in messages[::2]] == questions
    assert [message["content"] for message in messages[1::2]] == [result["rawResultText"] for result in seen]
    assert sorted(request.messages[-1].content for request in provider.requests) == sorted(questions)


async def test_a_slow_network_makes_a_turn_slow_and_nothing_else(gate: Gate, through: Home) -> None:
    provider = FakeProvider()
    gate.delay_seconds = 0.02
    async with serving(through, provider) as client:
        started = data_of(await client.call_tool("search", {"query": "one?"}))
        named = {"conversationId": started["conversationId"]}
        results: list[dict[str, Any]] = []

        async def ask(question: str) -> None:
            results.append(data_of(await client.call_tool("search_followup", {"query": question, **named})))

        async with anyio.create_task_group() as tasks:
            for question in ("two?", "three?", "two?"):
                tasks.start_soon(ask, question)
        history = data_of(await client.call_tool("get_conversation_history", named))
    assert {result["turn"] for result in results} == {2, 3}
    assert history["messageCount"] == 7
    assert len(provider.requests) == 3


@pytest.mark.usefixtures("_brief_leases")
async def test_an_answer_that_comes_while_the_server_is_away_is_given_and_written_later(
    tmp_path: Path, url: str, gate: Gate, through: Home
) -> None:
    release, results = anyio.Event(), list[CallToolResult]()
    provider = FakeProvider()
    async with serving(through, provider) as client:
        named = {"conversationId": data_of(await client.call_tool("search", {"query": "one?"}))["conversationId"]}
        provider.scripts.append(held(release))

        async def ask() -> None:
            results.append(await client.call_tool("search_followup", {"query": "two?", **named}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            while len(provider.requests) < 2:
                await anyio.lowlevel.checkpoint()
            await to_thread.run_sync(gate.shut)
            release.set()
        assert "THIS ANSWER IS NOT SAVED" in text_of(results[0])
        refused = await client.call_tool("search_followup", {"query": "three?", **named})
        assert error_of(refused)["retryable"] is True
        gate.open()
        assert data_of(await client.call_tool("search_followup", {"query": "three?", **named}))["turn"] == 3
    messages = Home(tmp_path, url).stored(named["conversationId"])["messages"]
    assert [message["content"] for message in messages if message["role"] == "user"] == ["one?", "two?", "three?"]
    assert messages[4]["content"] == data_of(results[0])["rawResultText"]
    assert len(provider.requests) == 3


async def test_looks_for_a_stop_that_fail_end_neither_the_turn_nor_what_else_runs(
    gate: Gate, through: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.turns.stop_watch.STOP_POLL_SECONDS", 0.01)
    asked, release, results = anyio.Event(), anyio.Event(), list[CallToolResult]()
    async with serving(through, FakeProvider(held(release, asked))) as client:

        async def ask() -> None:
            results.append(await client.call_tool("search", {"query": "one?"}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await asked.wait()
            await to_thread.run_sync(gate.shut)
            while gate.refused_count < 10:
                await anyio.lowlevel.checkpoint()
            gate.open()
            release.set()
    assert data_of(results[0])["turn"] == 1
