"""Many at once: starts from several processes, follow-ups on one conversation, a reader that looks on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.folders import only_conversation, only_file
from tests.fixtures.processes import server_command
from tests.fixtures.serving import data_of

STARTS, PROCESSES = 50, 4
FOLLOW_UPS = 20


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


async def test_fifty_starts_from_four_processes_are_fifty_conversations(tmp_path: Path, agent: LoopbackAgent) -> None:
    ids: list[str] = []

    async def start(client: Client, number: int) -> None:
        ids.append(data_of(await client.call_tool("search", {"query": f"question {number}"}))["conversationId"])

    async def process(number: int) -> None:
        async with Client(server_command(tmp_path, agent.base_url)) as client, anyio.create_task_group() as tasks:
            for question in range(number, STARTS, PROCESSES):
                tasks.start_soon(start, client, question)

    async with anyio.create_task_group() as tasks:
        for number in range(PROCESSES):
            tasks.start_soon(process, number)
    assert len(set(ids)) == STARTS
    files = sorted((tmp_path / "conversation-logs").glob("*/conversation.json"))
    assert [path.parent.name for path in files] == sorted(ids)
    for path in files:
        conversation = json.loads(path.read_text(encoding="utf-8"))
        assert conversation["conversationId"] == path.parent.name
        assert [message["role"] for message in conversation["messages"]] == ["system", "user", "assistant"]
    assert sorted(agent.paid) == sorted(f"question {number}" for number in range(STARTS))


async def test_parallel_follow_ups_from_two_processes_each_see_all_earlier_answers(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    counts: list[int] = []
    async with (
        Client(server_command(tmp_path, agent.base_url)) as one,
        Client(server_command(tmp_path, agent.base_url)) as two,
    ):
        first = data_of(await one.call_tool("search", {"query": "question 0"}))
        done = anyio.Event()

        async def ask(client: Client, number: int) -> None:
            arguments = {"conversationId": first["conversationId"], "query": f"question {number}"}
            data_of(await client.call_tool("search_followup", arguments))

        async def read() -> None:
            path = await anyio.to_thread.run_sync(only_file, tmp_path)
            while not done.is_set():
                seen: dict[str, Any] = json.loads(await anyio.Path(path).read_bytes())
                assert seen["messageCount"] == len(seen["messages"])
                counts.append(len(seen["messages"]))

        async with anyio.create_task_group() as readers:
            readers.start_soon(read)
            async with anyio.create_task_group() as tasks:
                for number in range(1, FOLLOW_UPS + 1):
                    tasks.start_soon(ask, one if number % 2 else two, number)
            done.set()
    assert counts == sorted(counts)
    messages = only_conversation(tmp_path)["messages"]
    assert len(messages) == 1 + 2 * (FOLLOW_UPS + 1)
    contents = [message["content"] for message in messages]
    for body in agent.requests:
        sent = [item["content"] for item in body["input"]]
        assert sent == contents[: len(sent)]
    assert sorted(len(body["input"]) for body in agent.requests) == list(range(2, len(messages), 2))
