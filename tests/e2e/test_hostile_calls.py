"""The register of calls under attack: what was paid once is never paid again because somebody lost track of it."""

import json
import os
import resource
import signal
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.folders import ID, LONG_AGO, left_behind, only_conversation, only_file, until_settled
from tests.fixtures.processes import RawServer
from tests.fixtures.providers import FakeProvider, failing, held
from tests.fixtures.serving import data_of, error_of, serving, settings_for

from conversation_mcp.bootstrap import open_app
from conversation_mcp.errors import ConversationBusyError, ProviderTimeoutError, ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event, Finished, Request, Started, StillRunning
from conversation_mcp.turns.ask import Ask, Caller

CALL = ("search", {"query": "one?"})
ASK = Ask("search", "search", "one?", "fast")
SLOW = Ask("search_followup", "search", "slow?", "low")
NEXT = Ask("search_followup", "search", "next?", "low")
QUEUED, JOINED = "waiting for another follow-up", "the same question is already being answered"


async def ask_on_a_server_that_ends(folder: Path, provider: FakeProvider) -> str:
    """Ask the call's question, and end the server before the answer comes; return the conversation's id."""
    async with serving(folder, provider, answer_wait_seconds=0, ending_grace_seconds=0) as client:
        return data_of(await client.call_tool(*CALL))["conversationId"]


def calls_of(folder: Path) -> Path:
    return folder / "conversation-logs" / ".calls"


async def test_a_call_whose_run_cannot_be_had_now_is_not_paid_again_by_the_next_try(tmp_path: Path) -> None:
    first = await ask_on_a_server_that_ends(tmp_path, FakeProvider(held(anyio.Event())))
    provider = FakeProvider()
    provider.runs["resp_held"] = ProviderUnavailableError("fake cannot be reached.")
    async with serving(tmp_path, provider) as client:
        error_of(await client.call_tool(*CALL))
        provider.runs["resp_held"] = Finished(Answer("whole after all"))
        again = data_of(await client.call_tool(*CALL))
    assert provider.requests == []
    assert again == IsPartialDict(conversationId=first, rawResultText="whole after all")


async def test_a_call_whose_run_still_goes_on_is_joined_by_the_same_call(tmp_path: Path) -> None:
    first = await ask_on_a_server_that_ends(tmp_path, FakeProvider(held(anyio.Event())))
    provider = FakeProvider()
    provider.runs["resp_held"] = StillRunning("reading")
    async with serving(tmp_path, provider, answer_wait_seconds=0.5) as client:
        assert data_of(await client.call_tool(*CALL)) == IsPartialDict(conversationId=first, status="running")
    results: list[dict[str, Any]] = []
    async with serving(tmp_path, provider) as client, anyio.create_task_group() as tasks:

        async def ask() -> None:
            results.append(data_of(await client.call_tool(*CALL)))

        tasks.start_soon(ask)
        with anyio.fail_after(60):
            while len(provider.fetched) < 2:
                await anyio.lowlevel.checkpoint()
        provider.runs["resp_held"] = Finished(Answer("whole after all"))
    assert provider.requests == []
    assert results == [IsPartialDict(conversationId=first, rawResultText="whole after all")]


async def test_a_research_that_nobody_watches_any_more_is_not_paid_again_by_the_same_call(tmp_path: Path) -> None:
    provider = FakeProvider(
        failing(ProviderTimeoutError("fake", "show the run", 30), Started("resp_1", background=True))
    )
    provider.runs["resp_1"] = Finished(Answer("whole after all"))
    async with serving(tmp_path, provider) as client:
        first = error_of(await client.call_tool("deep_research", {"query": "one?"}))
        again = data_of(await client.call_tool("deep_research", {"query": "one?"}))
    assert len(provider.requests) == 1
    assert again == IsPartialDict(conversationId=first["conversationId"], rawResultText="whole after all")


async def test_a_joined_call_that_cannot_read_the_file_does_not_make_the_first_one_forgotten(tmp_path: Path) -> None:
    release, asked = anyio.Event(), anyio.Event()
    other = FakeProvider()
    results: list[dict[str, Any]] = []

    async def ask_again(client: Client) -> None:
        results.append(data_of(await client.call_tool(*CALL)))

    async with (
        serving(tmp_path, FakeProvider(held(release, asked)), answer_wait_seconds=0) as one,
        serving(tmp_path, other) as two,
        anyio.create_task_group() as tasks,
    ):
        await one.call_tool(*CALL)
        await asked.wait()
        path = only_file(tmp_path)
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])  # an editor is half-way through saving
        assert error_of(await two.call_tool(*CALL))["code"] == "CONVERSATION_CORRUPTED"
        path.write_bytes(whole)
        tasks.start_soon(ask_again, two)
        release.set()
    assert other.requests == []
    assert results == [
        IsPartialDict(conversationId=only_file(tmp_path).parent.name, rawResultText="answer 1 to one? [1]")
    ]


@pytest.mark.slow
def test_servers_that_find_the_same_dead_call_at_the_same_instant_ask_once(tmp_path: Path) -> None:
    path = left_behind(tmp_path, status="interrupted", provider="perplexity")
    conversation = json.loads(path.read_text(encoding="utf-8"))
    calls_of(tmp_path).mkdir()
    with LoopbackAgent() as agent, ExitStack() as processes:
        servers = [processes.enter_context(RawServer(tmp_path, agent.base_url)) for _ in range(4)]
        for server in servers:
            server.initialize()
        for number in range(1, 9):
            question = f"question {number} [[delay:0.5]]"
            key = Ask("search", "search", question, "fast").key("local", None)
            conversation["pendingTurn"]["question"] = question
            path.write_text(json.dumps(conversation), encoding="utf-8")
            dead = {"conversationId": ID, "startedAt": LONG_AGO}
            (calls_of(tmp_path) / key).write_text(json.dumps(dead), encoding="utf-8")
            for server in servers:
                server.call("search", number, query=question)
            for server in servers:
                assert not server.answer_to(number)["result"].get("isError")
        assert len(agent.paid) == len(set(agent.paid))


@pytest.mark.slow
def test_a_queued_follow_up_of_a_process_that_is_suspended_is_not_asked_by_another_as_well(tmp_path: Path) -> None:
    left_behind(tmp_path, status="failed", provider="perplexity")
    with LoopbackAgent() as agent, ExitStack() as processes:
        one, two, three = (processes.enter_context(RawServer(tmp_path, agent.base_url)) for _ in range(3))
        for server in (one, two, three):
            server.initialize()
        one.call("search_followup", conversationId=ID, query="slow? [[hold]]")
        assert agent.wait_until(lambda agent: agent.creates == 1)
        call_with_progress(two, QUEUED)
        call_with_progress(three, JOINED)
        two.process.send_signal(signal.SIGSTOP)
        agent.release()
        one.answer_to(1)
        agent.wait_until(lambda agent: agent.creates == 2, 7)
        two.process.send_signal(signal.SIGCONT)
        for server in (two, three):
            assert not server.answer_to(1)["result"].get("isError")
        assert agent.paid.count("next?") == 1


def call_with_progress(server: RawServer, until: str) -> None:
    """Ask the follow-up and read until the server says where it stands."""
    call = {"name": "search_followup", "arguments": {"conversationId": ID, "query": "next?"}}
    server.send("tools/call", {**call, "_meta": {"progressToken": 1}}, 1)
    assert server.process.stdout
    while until not in server.process.stdout.readline().decode():
        pass


async def test_a_follow_up_whose_caller_left_the_queue_is_not_said_to_be_running(tmp_path: Path) -> None:
    release, asked, queued = anyio.Event(), anyio.Event(), anyio.Event()
    provider = FakeProvider()

    async def hear(text: str) -> None:
        if QUEUED in text:
            queued.set()

    async with open_app(settings_for(tmp_path, lock_wait_seconds=0.2), providers=[provider]) as app:
        conversation_id = (await app.turns.start(ASK, Caller(5))).conversation_id
        provider.scripts.append(held(release, asked))
        await app.turns.follow_up(conversation_id, SLOW, Caller(0))
        await asked.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(app.turns.follow_up, conversation_id, NEXT, Caller(5, hear))
            await queued.wait()
            tasks.cancel_scope.cancel()
        with pytest.raises(ConversationBusyError):
            await app.turns.follow_up(conversation_id, NEXT, Caller(5))
        release.set()
        await until_settled(tmp_path)
    assert [message["content"] for message in only_conversation(tmp_path)["messages"][1::2]] == ["one?", "slow?"]


async def test_a_follow_up_that_another_server_only_queues_is_not_said_to_be_running(tmp_path: Path) -> None:
    release, asked, queued = anyio.Event(), anyio.Event(), anyio.Event()
    provider = FakeProvider()

    async def hear(text: str) -> None:
        if QUEUED in text:
            queued.set()

    settings = settings_for(tmp_path)
    async with (
        open_app(settings, providers=[provider]) as one,
        open_app(settings, providers=[FakeProvider()]) as two,
        anyio.create_task_group() as tasks,
    ):
        conversation_id = (await one.turns.start(ASK, Caller(5))).conversation_id
        provider.scripts.append(held(release, asked))
        await one.turns.follow_up(conversation_id, SLOW, Caller(0))
        await asked.wait()
        tasks.start_soon(one.turns.follow_up, conversation_id, NEXT, Caller(20, hear))
        await queued.wait()
        with pytest.raises(ConversationBusyError):
            await two.turns.follow_up(conversation_id, NEXT, Caller(0.5))
        release.set()


async def test_a_dead_call_is_not_taken_for_the_question_that_is_being_answered_now(tmp_path: Path) -> None:
    conversation_id = await ask_on_a_server_that_ends(tmp_path, FakeProvider(silent))
    release, asked = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(release, asked))
    async with open_app(settings_for(tmp_path), providers=[provider]) as app:
        await app.turns.follow_up(conversation_id, NEXT, Caller(0))
        await asked.wait()
        again = await app.turns.start(ASK, Caller(1))
        release.set()
    assert again.status == "completed"
    assert again.conversation_id != conversation_id


async def silent(_request: Request) -> AsyncGenerator[Event]:
    await anyio.Event().wait()
    yield Started("resp_never")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process are set on Linux only")
def test_a_call_that_cannot_be_read_for_a_moment_is_not_forgotten(tmp_path: Path) -> None:
    with (
        LoopbackAgent() as agent,
        RawServer(tmp_path, agent.base_url, CONVERSATION_MCP_ANSWER_WAIT_SECONDS="0") as one,
        RawServer(tmp_path, agent.base_url) as two,
    ):
        for server in (one, two):
            server.initialize()
        two.call("search", query="to have all modules loaded?")
        two.answer_to(1)
        one.call("search", query="one? [[hold]]")
        running = one.answer_to(1)["result"]["structuredContent"]
        before = resource.prlimit(two.process.pid, resource.RLIMIT_NOFILE)
        opened = set(map(int, os.listdir(f"/proc/{two.process.pid}/fd")))  # noqa: PTH208 -- numbers, no paths
        # A limit above the highest would leave it the numbers in between that are free.
        lowest_free = next(number for number in count() if number not in opened)
        resource.prlimit(two.process.pid, resource.RLIMIT_NOFILE, (lowest_free, before[1]))
        two.call("search", 2, query="one? [[hold]]")
        assert two.answer_to(2)["result"]["structuredContent"]["code"] == "FILESYSTEM_ERROR"
        resource.prlimit(two.process.pid, resource.RLIMIT_NOFILE, before)
        agent.release()
        two.call("search", 3, query="one? [[hold]]")
        assert two.answer_to(3)["result"]["structuredContent"]["conversationId"] == running["conversationId"]
        assert agent.paid.count("one? [[hold]]") == 1


async def test_a_folder_in_the_place_of_a_call_is_an_error_and_no_endless_loop(tmp_path: Path) -> None:
    (calls_of(tmp_path) / ASK.key("local", None)).mkdir(parents=True)
    provider = FakeProvider()
    with anyio.fail_after(60):
        async with serving(tmp_path, provider) as client:
            error = error_of(await client.call_tool(*CALL))
    assert error["code"] == "FILESYSTEM_ERROR"
    assert provider.requests == []


async def test_a_follow_up_to_an_unknown_id_is_told_so_in_a_new_folder_too_and_leaves_no_trace(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as client:
        error = error_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
    assert error["code"] == "CONVERSATION_NOT_FOUND"
    assert list(tmp_path.iterdir()) == []
