"""Processes that share a Redis server: chains between them, one that dies in a turn, a server that is killed."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.homes import Home
from tests.fixtures.processes import RawServer, environment, server_command
from tests.fixtures.serving import data_of, text_of
from tests.fixtures.stores import appended, started
from tests.fixtures.valkey import Valkey, valkey

from conversation_mcp.clock import utc_now
from conversation_mcp.stores.catalog import open_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def url(valkey_server: Valkey) -> Iterator[str]:
    url = valkey_server.database()
    yield url
    valkey_server.drop(url)


@pytest.fixture
def store(url: str) -> dict[str, str]:
    """The settings that name the store as the word for it."""
    return {"CONVERSATION_MCP_STORE": "redis", "REDIS_URL": url}


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def run(folder: Path, *words: str, **changes: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "conversation_mcp", *words]
    return subprocess.run(
        command, env=environment(folder, **changes), cwd=folder, capture_output=True, text=True, check=False
    )


def pending(home: Home) -> dict[str, Any]:
    """Return the pending turn as soon as the id of its run is stored."""
    while True:
        for conversation_id in home.ids():
            turn = home.stored(conversation_id).get("pendingTurn", {})
            if "responseId" in turn:
                return turn


async def test_a_second_process_goes_on_with_a_conversation_that_both_tell_the_end_of(
    tmp_path: Path, agent: LoopbackAgent, store: dict[str, str], url: str
) -> None:
    async with Client(server_command(tmp_path, agent.base_url, **store)) as client:
        first = await client.call_tool("search", {"query": "one?"})
    same = {"conversationId": data_of(first)["conversationId"]}
    assert f"Forgotten if it is not used before {data_of(first)['forgottenAfter']}" in text_of(first)
    async with Client(server_command(tmp_path, agent.base_url, **store)) as client:
        second = data_of(await client.call_tool("search_followup", {**same, "query": "two?"}))
        listed = data_of(await client.call_tool("list_conversations", {"query": "two"}))
    assert second["forgottenAfter"] >= data_of(first)["forgottenAfter"]
    assert [each["conversationId"] for each in listed["conversations"]] == [same["conversationId"]]
    assert [item["role"] for item in agent.requests[-1]["input"]] == ["system", "user", "assistant", "user"]
    assert not (tmp_path / "conversation-logs").exists()
    assert run(tmp_path, "list", **store).stdout.startswith(same["conversationId"])
    assert run(tmp_path, "list", REDIS_URL=url).stdout == ""


def test_a_turn_whose_process_was_killed_is_fetched_by_another_one_and_not_asked_again(
    tmp_path: Path, agent: LoopbackAgent, store: dict[str, str], url: str, valkey_server: Valkey
) -> None:
    home = Home(tmp_path, url)
    with RawServer(tmp_path, agent.base_url, cwd=tmp_path, **store) as server:
        server.initialize()
        server.call("deep_research", query="one? [[hold]]")
        assert agent.wait_until(lambda agent: agent.creates == 1)
        assert pending(home) == IsPartialDict(status="running")
        server.process.kill()
        server.process.wait()
    for key in valkey_server.command(url, "KEYS", "*:lease:*"):  # as if 20 seconds had gone by
        valkey_server.command(url, "HSET", key, "until", 1)
    agent.release()
    with RawServer(tmp_path, agent.base_url, cwd=tmp_path, **store) as server:
        server.initialize()
        server.call("get_conversation_history", conversationId=home.ids()[0], waitSeconds=50)
        page = server.answer_to(1)["result"]["structuredContent"]
    assert page["messages"][-1]["role"] == "assistant"
    assert agent.creates == 1


async def test_a_conversation_whose_time_is_over_is_gone_for_every_process(
    tmp_path: Path, agent: LoopbackAgent, store: dict[str, str], url: str, valkey_server: Valkey
) -> None:
    async with Client(server_command(tmp_path, agent.base_url, **store)) as client:
        same = {"conversationId": data_of(await client.call_tool("search", {"query": "one?"}))["conversationId"]}
        assert data_of(await client.call_tool("list_conversations", {}))["conversations"]
        (key,) = valkey_server.command(url, "KEYS", "*:conversation:*")
        valkey_server.command(url, "PEXPIRE", key, 1)
        while valkey_server.command(url, "EXISTS", key):
            pass
        gone = await client.call_tool("search_followup", {**same, "query": "two?"})
        listed = data_of(await client.call_tool("list_conversations", {}))
    assert gone.is_error
    assert "CONVERSATION_NOT_FOUND" in text_of(gone)
    assert listed["conversations"] == []
    assert agent.creates == 1


def test_doctor_verify_and_config_tell_of_the_store_without_its_password(
    tmp_path: Path, store: dict[str, str], url: str, valkey_server: Valkey
) -> None:
    with valkey_server.setting("appendfsync", "everysec"):
        told = [run(tmp_path, command, **store, CONVERSATION_TIMEOUT_HOURS="1.5") for command in ("doctor", "verify")]
    for each in told:
        assert "warn  appendfsync of the server is everysec" in each.stdout, each
    assert "each is forgotten 1.5 h after it was written last" in told[0].stdout
    assert "the store writes, locks and reads back" in told[0].stdout
    config = run(tmp_path, "config", **store).stdout
    assert "\tREDIS_URL\n" in config
    missing = run(tmp_path, "list", CONVERSATION_MCP_STORE="redis")
    assert (missing.returncode, "REDIS_URL, which is not set" in missing.stderr) == (2, True)
    for output in (*(each.stdout + each.stderr for each in told), config):
        assert "swordfish" not in output


def test_a_server_that_is_killed_has_what_it_acknowledged_when_it_is_back(valkey_server: Valkey) -> None:
    del valkey_server  # it says whether Valkey is installed
    with valkey() as server:

        async def before() -> str:
            store = open_store(url, utc_now)
            conversation_id = await started(store)
            for number in range(20):
                await store.update(conversation_id, appended(str(number)))
            return conversation_id

        url = server.database()
        store = open_store(url, utc_now)
        conversation_id = anyio.run(before)
        server.restart()
        stored = json.loads(store.finder.read(store.finder.ids()[0]))
        assert stored["conversationId"] == conversation_id
        assert [message["content"] for message in stored["messages"][1:]] == [str(number) for number in range(20)]
