"""Stopping: a person's wish, the end of the server, and the day's budget."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.folders import ID, abandoned, only_conversation, only_file, until_settled
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import data_of, error_of, serving, settings_for
from typer.testing import CliRunner

from conversation_mcp.bootstrap import open_app
from conversation_mcp.cli.main import app as command_line
from conversation_mcp.errors import InvalidInputError, RunCancelledError
from conversation_mcp.providers.base import Answer, Event, Finished, Request, StillRunning
from conversation_mcp.records.usage import Usage
from conversation_mcp.turns.ask import Ask, Caller

ASK = Ask("search", "search", "one?", "fast")


async def test_stopping_a_turn_of_this_process_stops_the_providers_run_and_keeps_the_question(home: Home) -> None:
    asked = anyio.Event()
    provider = FakeProvider(held(anyio.Event(), asked))
    stopped = RunCancelledError("fake")
    stopped.usage = {"cost_usd": 0.02}
    provider.runs["resp_held"] = stopped
    async with open_app(settings_for(home), providers=[provider]) as app:
        running = await app.turns.start(ASK, Caller(0))
        await asked.wait()
        conversation = await app.watch.stop(running.conversation_id)
    assert provider.cancelled == ["resp_held"]
    assert conversation.pending_turn is not None
    assert conversation.pending_turn.data() == IsPartialDict(
        question="one?", status="failed", usage={"costUsd": 0.02}, error=IsPartialDict(message=stopped.message)
    )


async def test_another_process_can_stop_it(home: Home) -> None:
    asked = anyio.Event()
    provider = FakeProvider(held(anyio.Event(), asked))
    async with (
        open_app(settings_for(home), providers=[provider]) as one,
        open_app(settings_for(home), providers=[FakeProvider()]) as two,
    ):
        running = await one.turns.start(ASK, Caller(0))
        await asked.wait()
        conversation = await two.watch.stop(running.conversation_id)
    assert provider.cancelled == ["resp_held"]
    assert conversation.pending_turn is not None
    assert conversation.pending_turn.status == "failed"


async def test_a_stop_from_another_process_does_not_wait_for_the_next_question(home: Home) -> None:
    asked, next_asked, answered = anyio.Event(), anyio.Event(), anyio.Event()
    provider = FakeProvider(held(anyio.Event(), asked), held(answered, next_asked))
    async with (
        open_app(settings_for(home), providers=[provider]) as one,
        open_app(settings_for(home), providers=[FakeProvider()]) as two,
        anyio.create_task_group() as tasks,
    ):
        running = await one.turns.start(ASK, Caller(0))
        await asked.wait()
        following = ASK._replace(tool="search_followup", question="two?")
        tasks.start_soon(one.turns.follow_up, running.conversation_id, following, Caller(60))
        while not one.running.queued_count():
            await anyio.lowlevel.checkpoint()
        with anyio.fail_after(10):
            await two.watch.stop(running.conversation_id)
            await next_asked.wait()
        answered.set()
    assert provider.cancelled == ["resp_held"]


async def test_an_answer_that_was_faster_than_the_wish_is_kept(home: Home) -> None:
    home.put(abandoned(responseId="resp_1", background=True))
    provider = FakeProvider()
    provider.runs["resp_1"] = Finished(Answer("Two."))
    async with open_app(settings_for(home), providers=[provider]) as app:
        conversation = await app.watch.stop(ID)
    assert conversation.messages[-1].content == "Two."
    assert conversation.pending_turn is None
    assert provider.cancelled == []


async def test_a_run_that_a_dead_server_left_is_stopped_at_its_provider(home: Home) -> None:
    home.put(abandoned(young=True, responseId="resp_1", background=True))
    provider = FakeProvider()
    provider.runs["resp_1"] = StillRunning("reading")
    async with open_app(settings_for(home), providers=[provider]) as app:
        conversation = await app.watch.stop(ID)
    assert provider.cancelled == ["resp_1"]
    assert conversation.pending_turn is not None
    assert conversation.pending_turn.status == "failed"


async def test_where_nothing_runs_there_is_nothing_to_stop(home: Home) -> None:
    async with open_app(settings_for(home), providers=[FakeProvider()]) as app:
        done = await app.turns.start(ASK, Caller(5))
        with pytest.raises(InvalidInputError, match="is being answered"):
            await app.watch.stop(done.conversation_id)


async def test_a_plain_call_gets_its_grace_at_the_end_and_is_then_marked_as_interrupted(home: Home) -> None:
    asked = anyio.Event()
    provider = FakeProvider(held(anyio.Event(), asked))
    async with open_app(settings_for(home, ending_grace_seconds=0.05), providers=[provider]) as app:
        await app.turns.start(ASK, Caller(0))
        await asked.wait()
    assert home.only()["pendingTurn"] == IsPartialDict(status="interrupted", responseId="resp_held")


async def test_an_answer_that_comes_within_the_grace_is_saved(home: Home) -> None:
    asked, release = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(release, asked))
    async with anyio.create_task_group() as tasks:

        async def serve() -> None:
            async with open_app(settings_for(home), providers=[provider]) as app:
                await app.turns.start(ASK, Caller(0))
                await asked.wait()

        tasks.start_soon(serve)
        await asked.wait()
        await anyio.wait_all_tasks_blocked()
        release.set()
    assert home.only()["messages"][-1]["content"] == "answer 1 to one? [1]"


async def test_a_run_in_the_background_is_left_to_its_provider_at_the_end(home: Home) -> None:
    asked = anyio.Event()
    provider = FakeProvider(held(anyio.Event(), asked, background=True))
    async with open_app(settings_for(home), providers=[provider]) as app:
        await app.turns.start(ASK, Caller(0))
        await asked.wait()
    assert home.only()["pendingTurn"] == IsPartialDict(status="running", responseId="resp_held", background=True)
    assert provider.cancelled == []


async def test_at_the_days_limit_nothing_more_is_sent_and_the_figures_are_said(home: Home) -> None:
    provider = FakeProvider()
    async with serving(home, provider, max_cost_usd_per_day=0.3) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        data_of(await client.call_tool("search_followup", {**conversation, "query": "two?"}))
        error = error_of(await client.call_tool("search_followup", {**conversation, "query": "three?"}))
    assert error["code"] == "BUDGET_REACHED"
    assert "$0.50" in error["message"]
    assert "$0.30" in error["message"]
    assert "notices" not in first
    assert len(provider.requests) == 2


async def test_what_a_failed_answer_cost_counts_towards_the_limit(home: Home) -> None:
    home.put(abandoned(young=True, status="failed", usage={"costUsd": 0.4}, error={"code": "X", "message": "x"}))
    provider = FakeProvider()
    async with serving(home, provider, max_cost_usd_per_day=0.3) as client:
        error = error_of(await client.call_tool("search", {"query": "one?"}))
    assert error["code"] == "BUDGET_REACHED"
    assert provider.requests == []


async def test_an_answer_that_could_not_be_saved_is_shown_from_memory_and_saved_when_that_works(tmp_path: Path) -> None:
    asked, release = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(release, asked))
    aside = tmp_path / "aside.json"
    async with serving(tmp_path, provider, answer_wait_seconds=0) as client:
        conversation = {
            "conversationId": data_of(await client.call_tool("search", {"query": "one?"}))["conversationId"]
        }
        await asked.wait()
        path = only_file(tmp_path)
        path.rename(aside)
        path.mkdir()
        release.set()
        history: dict[str, Any] = {}
        with anyio.fail_after(60):
            while "notices" not in history:
                result = await client.call_tool("get_conversation_history", conversation)
                history = {} if result.is_error else data_of(result)
        path.rmdir()
        aside.rename(path)
        saved = data_of(await client.call_tool("get_conversation_history", conversation))
    assert history["messages"][-1]["content"] == "answer 1 to one? [1]"
    assert "not saved yet" in history["notices"][0]
    assert "notices" not in saved
    assert only_conversation(tmp_path)["messages"][-1]["content"] == "answer 1 to one? [1]"


@pytest.mark.parametrize("fetchable", [True, False])
async def test_a_follow_up_finds_an_answer_that_could_not_be_saved_in_its_place(
    tmp_path: Path, fetchable: bool
) -> None:
    asked, release = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(release, asked))
    if fetchable:
        provider.runs["resp_held"] = Finished(Answer("answer 1 to one? [1]"))
    async with serving(tmp_path, provider, answer_wait_seconds=0) as client:
        conversation = {
            "conversationId": data_of(await client.call_tool("search", {"query": "one?"}))["conversationId"]
        }
        await asked.wait()
        path, aside = only_file(tmp_path), tmp_path / "aside.json"
        path.rename(aside)
        path.mkdir()
        release.set()
        with anyio.fail_after(60):
            while (await client.call_tool("get_conversation_history", conversation)).is_error:
                await anyio.lowlevel.checkpoint()
        path.rmdir()
        aside.rename(path)
        await client.call_tool("search_followup", {**conversation, "query": "two?"})
        await until_settled(tmp_path)
        await client.call_tool("get_conversation_history", conversation)
    stored = only_conversation(tmp_path)
    assert [message["content"] for message in stored["messages"][1:]] == [
        "one?",
        "answer 1 to one? [1]",
        "two?",
        "answer 2 to two? [1]",
    ]
    assert "unansweredTurns" not in stored


def test_the_commands_say_what_became_of_questions_without_an_answer(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.put(abandoned())
    monkeypatch.setenv("CONVERSATION_MCP_STORE", home.store_url)
    run = CliRunner().invoke(command_line, ["resume"])
    assert (run.exit_code, run.stdout) == (1, f"{ID}  interrupted: two?; what was billed is not known\n")
    again = CliRunner().invoke(command_line, ["cancel", ID])
    assert again.exit_code == 1


def test_an_error_of_a_command_is_one_sentence_on_stderr(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conversation_mcp", "cancel", ID, "--logs-dir", str(tmp_path)]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr == f"CONVERSATION_NOT_FOUND: no conversation {ID} in {tmp_path}. Check the id.\n"
    assert run.stdout == ""


async def test_where_no_cost_is_reported_an_estimate_counts_and_is_said_to_be_one(home: Home) -> None:
    async def unpriced(_request: Request) -> AsyncGenerator[Event]:
        yield Finished(Answer("Sure.", model="gpt-5", usage=Usage(input_tokens=200_000, output_tokens=10_000)))

    provider = FakeProvider(unpriced, name="openai")
    async with serving(home, provider, max_cost_usd_per_day=0.3) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        error = error_of(await client.call_tool("search", {"query": "two?"}))
    assert first["notices"] == ["the provider reported no cost; the daily limit counts an estimate of $0.35"]
    assert first["usage"] == {"inputTokens": 200_000, "outputTokens": 10_000}
    assert error["code"] == "BUDGET_REACHED"
    assert "$0.35 were spent today, $0.35 of it by an estimate, the limit is $0.30." in error["message"]
