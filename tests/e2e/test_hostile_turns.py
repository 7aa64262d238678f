"""Turns under attack: full disks, wishes at bad moments, the end of the server, files with odd contents."""

import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.folders import ID, left_behind, only_conversation, only_file
from tests.fixtures.processes import RawServer
from tests.fixtures.providers import FakeProvider, Script, held
from tests.fixtures.serving import data_of, error_of, serving, settings_for
from tests.fixtures.stores import fill, small_disk

from conversation_mcp.app import App
from conversation_mcp.bootstrap import open_app
from conversation_mcp.errors import ConversationMCPError, EarlierTurnFailedError
from conversation_mcp.providers.base import Answer, Event, Finished, Request, Started, StillRunning
from conversation_mcp.turns.ask import Ask, Caller

ASK = Ask("search", "search", "one?", "fast")
SLOW = Ask("search_followup", "search", "slow?", "low")
NEXT = Ask("search_followup", "search", "next?", "low")


def answering(text: str) -> Script:
    async def script(_request: Request) -> AsyncGenerator[Event]:
        yield Finished(Answer(text))

    return script


async def test_an_answer_that_waits_for_room_on_the_disk_is_not_replaced_by_the_next_one(tmp_path: Path) -> None:
    provider = FakeProvider(answering("short"), answering("1" * 40_000), answering("2" * 40_000))
    with small_disk(tmp_path / "disk", "256k") as disk:
        async with serving(disk, provider) as client:
            start = data_of(await client.call_tool("search", {"query": "zero?"}))
            conversation = {"conversationId": start["conversationId"]}
            fill(disk, 24_000)
            first = data_of(await client.call_tool("search_followup", {**conversation, "query": "one?"}))
            assert "NOT SAVED" in first["notices"][0]
            await client.call_tool("search_followup", {**conversation, "query": "two?"})
            (disk / "ballast").unlink()
            await client.call_tool("get_conversation_history", conversation)
        messages = only_conversation(disk)["messages"]
    assert [message["content"][:5] for message in messages[1:5]] == ["zero?", "short", "one?", "11111"]


async def test_the_id_of_a_run_that_could_not_be_written_at_once_is_written_later(tmp_path: Path) -> None:
    go, noted = anyio.Event(), anyio.Event()

    async def script(_request: Request) -> AsyncGenerator[Event]:
        await go.wait()
        yield Started("resp_1", background=True)
        noted.set()
        await anyio.Event().wait()

    async with open_app(settings_for(tmp_path), providers=[FakeProvider(script)]) as app:
        await app.turns.start(ASK, Caller(0))
        path, aside = only_file(tmp_path), tmp_path / "aside.json"
        path.rename(aside)
        path.mkdir()
        go.set()
        await noted.wait()
        path.rmdir()
        aside.rename(path)
    assert only_conversation(tmp_path)["pendingTurn"] == IsPartialDict(responseId="resp_1", background=True)


class SlowToLook(FakeProvider):
    """Takes its time for its first look at a run."""

    def __init__(self) -> None:
        super().__init__()
        self.looking, self.go = anyio.Event(), anyio.Event()

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        self.looking.set()
        await self.go.wait()
        return await super().fetch(response_id)


async def test_a_wish_to_stop_that_comes_while_a_run_is_looked_up_is_not_lost(tmp_path: Path) -> None:
    left_behind(tmp_path, young=True, responseId="resp_1", background=True)
    provider = SlowToLook()
    provider.runs["resp_1"] = StillRunning("reading")
    settings = settings_for(tmp_path)
    wish = settings.logs_dir / ".calls" / f"{ID}.stop"
    async with (
        open_app(settings, providers=[provider]) as one,
        open_app(settings, providers=[FakeProvider()]) as two,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(one.watch.look, ID, Caller(50))
        await provider.looking.wait()
        tasks.start_soon(two.watch.stop, ID)
        while not wish.exists():
            await anyio.lowlevel.checkpoint()
        provider.go.set()
        with anyio.move_on_after(60):
            while not provider.cancelled:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert provider.cancelled == ["resp_1"]


async def test_stopping_a_call_that_was_only_joined_stops_the_turn_itself(tmp_path: Path) -> None:
    asked, joined = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(anyio.Event(), asked))

    async def hear(text: str) -> None:
        if "already being answered" in text:
            joined.set()

    async def join(app: App) -> None:
        with suppress(EarlierTurnFailedError):
            await app.turns.start(ASK, Caller(50, hear))

    settings = settings_for(tmp_path, ending_grace_seconds=0)
    async with (
        open_app(settings, providers=[provider]) as one,
        open_app(settings, providers=[FakeProvider()]) as two,
        anyio.create_task_group() as tasks,
    ):
        running = await one.turns.start(ASK, Caller(0))
        await asked.wait()
        tasks.start_soon(join, two)
        await joined.wait()
        with anyio.move_on_after(60):
            await two.watch.stop(running.conversation_id)
        tasks.cancel_scope.cancel()
    assert provider.cancelled == ["resp_held"]


async def test_a_run_of_a_provider_that_is_not_configured_now_is_not_given_up(tmp_path: Path) -> None:
    left_behind(tmp_path, responseId="resp_1", background=True, provider="perplexity")
    async with serving(tmp_path, FakeProvider(name="local")) as client:
        await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"})
    provider = FakeProvider(name="perplexity")
    provider.runs["resp_1"] = Finished(Answer("Two."))
    async with serving(tmp_path, provider) as client:
        page = data_of(await client.call_tool("get_conversation_history", {"conversationId": ID}))
    assert [message["content"] for message in page["messages"]][:4] == ["one?", "One.", "two?", "Two."]


async def test_a_server_that_is_ending_sends_no_queued_and_no_new_question(tmp_path: Path) -> None:
    release, asked, queued = anyio.Event(), anyio.Event(), anyio.Event()
    provider = FakeProvider()

    async def hear(text: str) -> None:
        if "waiting for another follow-up" in text:
            queued.set()

    async def try_to_ask(ask: Ask, conversation_id: str | None, report: Any) -> None:
        caller = Caller(20, report)
        try:
            await (
                app.turns.follow_up(conversation_id, ask, caller) if conversation_id else app.turns.start(ask, caller)
            )
        except ConversationMCPError:
            return

    async def silent(text: str) -> None:
        del text

    async with open_app(settings_for(tmp_path), providers=[provider]) as app:
        conversation_id = (await app.turns.start(ASK, Caller(5))).conversation_id
        provider.scripts.append(held(release, asked))
        await app.turns.follow_up(conversation_id, SLOW, Caller(0))
        await asked.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(try_to_ask, NEXT, conversation_id, hear)
            await queued.wait()
            tasks.start_soon(app.running.finish, 10)
            await anyio.wait_all_tasks_blocked()
            await try_to_ask(Ask("search", "search", "new?", "fast"), None, silent)
            release.set()
    assert [request.messages[-1].content for request in provider.requests] == ["one?", "slow?"]


@pytest.mark.slow
def test_sigterm_ends_a_server_whose_client_does_not_read(tmp_path: Path) -> None:
    with LoopbackAgent() as agent, RawServer(tmp_path, agent.base_url) as server:
        server.initialize()
        server.call("search", query="one? [[fault:big]]")
        conversation_id = server.answer_to(1)["result"]["structuredContent"]["conversationId"]
        for number in range(2, 8):
            server.call("get_conversation_history", number, conversationId=conversation_id)
        server.call("search", 9, query="two?")
        assert agent.wait_until(lambda agent: agent.creates == 2)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(15)


@pytest.mark.parametrize(
    "note", [{"number": 7}, {"data": {"a": 1}}, {"json": "x"}, {"copy": True}, {"of": "whom"}, {"created_at": 5}]
)
async def test_a_note_by_hand_in_a_message_never_hides_the_history_whatever_its_name(
    tmp_path: Path, note: dict[str, Any]
) -> None:
    path = left_behind(tmp_path, status="failed")
    conversation = json.loads(path.read_text(encoding="utf-8"))
    conversation["messages"][1] |= note
    path.write_text(json.dumps(conversation), encoding="utf-8")
    async with serving(tmp_path, FakeProvider()) as client:
        page = data_of(await client.call_tool("get_conversation_history", {"conversationId": ID}))
    assert [(message["number"], message["content"]) for message in page["messages"]] == [(2, "one?"), (3, "One.")]


async def test_a_pending_turn_with_an_unreadable_time_never_hides_the_history(tmp_path: Path) -> None:
    left_behind(tmp_path, status="failed", startedAt="yesterday")
    async with serving(tmp_path, FakeProvider()) as client:
        page = data_of(await client.call_tool("get_conversation_history", {"conversationId": ID}))
    assert page["pendingTurn"]["question"] == "two?"


async def test_a_very_long_number_in_brackets_never_hides_an_answer_or_the_history(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as client:
        result = data_of(await client.call_tool("search", {"query": f"what is [{'1' * 5000}]?"}))
        page = await client.call_tool("get_conversation_history", {"conversationId": result["conversationId"]})
    assert data_of(page)["messageCount"] == 3


async def test_an_answer_with_half_a_character_in_its_id_can_be_sent_to_the_client(tmp_path: Path) -> None:
    async def script(_request: Request) -> AsyncGenerator[Event]:
        yield Finished(Answer("fine", response_id="resp_\ud800"))

    async with serving(tmp_path, FakeProvider(script)) as client:
        result = await client.call_tool("search", {"query": "one?"})
    assert "fine" in result.model_dump_json()


async def test_a_folder_whose_name_is_not_utf_8_can_be_told_to_the_client(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    async with serving(folder, FakeProvider()) as client:
        result = await client.call_tool("search", {"query": "one?"})
        unknown = await client.call_tool("get_conversation_history", {"conversationId": ID})
    assert "one?" in result.model_dump_json()
    assert error_of(unknown)["code"] in unknown.model_dump_json()


async def test_a_clock_that_was_far_ahead_does_not_keep_a_lost_run_alive(tmp_path: Path) -> None:
    left_behind(tmp_path, responseId="resp_1", startedAt="2046-01-01T00:00:00.000Z")
    async with serving(tmp_path, FakeProvider()) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"}))
    (left,) = only_conversation(tmp_path)["unansweredTurns"]
    assert left["status"] == "interrupted"
