"""Turns whose server died: fetched by the id of their run, shown as they are, never asked again."""

from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict, IsStr
from mcp import Client
from tests.fixtures.folders import ID, abandoned
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider, failing, held
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ProviderUnavailableError,
    RunCancelledError,
    RunLostError,
    StreamBrokenError,
)
from conversation_mcp.providers.base import Answer, Finished, Started, StillRunning, TextDelta


async def history(client: Client, **arguments: object) -> dict[str, Any]:
    return data_of(await client.call_tool("get_conversation_history", {"conversationId": ID, **arguments}))


async def test_history_fetches_the_answer_of_a_dead_server(home: Home) -> None:
    home.put(abandoned(responseId="resp_1", background=True))
    provider = FakeProvider()
    provider.runs["resp_1"] = Finished(Answer("Two.", response_id="resp_1"))
    async with serving(home, provider) as client:
        page = await history(client)
    assert [message["content"] for message in page["messages"]] == ["one?", "One.", "two?", "Two."]
    assert "pendingTurn" not in page
    assert provider.fetched == ["resp_1"]
    assert provider.requests == []
    assert home.only()["messages"][-1]["content"] == "Two."


async def test_a_follow_up_settles_the_turn_before_it_and_sends_its_answer_along(home: Home) -> None:
    home.put(abandoned(responseId="resp_1"))
    provider = FakeProvider()
    provider.runs["resp_1"] = Finished(Answer("Two."))
    async with serving(home, provider) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"}))
    assert [message.content for message in provider.requests[0].messages] == [
        "Be brief.",
        "one?",
        "One.",
        "two?",
        "Two.",
        "three?",
    ]


async def test_a_run_that_goes_on_at_its_provider_is_watched_to_its_end(home: Home) -> None:
    home.put(abandoned(young=True, responseId="resp_1", background=True))
    provider = FakeProvider()
    provider.runs["resp_1"] = StillRunning("reading 14 pages")
    async with serving(home, provider, lock_wait_seconds=0) as client:
        waiting = await history(client)
        busy = error_of(
            await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"}),
        )
        provider.end_run("resp_1", Finished(Answer("Two.")))
        done = await history(client, waitSeconds=50)
    assert waiting["pendingTurn"] == IsPartialDict(question="two?", status="running", responseId="resp_1")
    assert busy["code"] == "CONVERSATION_BUSY"
    assert done["messages"][-1]["content"] == "Two."
    assert provider.requests == []


async def test_a_follow_up_on_a_run_that_goes_on_is_busy_and_says_how_to_wait_or_stop(home: Home) -> None:
    home.put(abandoned(young=True, responseId="resp_1"))
    provider = FakeProvider()
    provider.runs["resp_1"] = StillRunning("reading 14 pages")
    async with serving(home, provider, lock_wait_seconds=0) as client:
        busy = error_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"}))
    assert busy["code"] == "CONVERSATION_BUSY"
    assert "get_conversation_history" in busy["message"]
    assert f"conversation-mcp cancel {ID}" in busy["message"]
    assert provider.requests == []


@pytest.mark.parametrize("background", [False, True])
async def test_a_follow_up_waits_for_a_run_that_goes_on_says_so_and_is_asked_then(home: Home, background: bool) -> None:
    home.put(abandoned(young=True, responseId="resp_1", background=background))
    provider = FakeProvider()
    provider.runs["resp_1"] = StillRunning("reading 14 pages")
    told: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        told.append(message or "")
        if "reading 14 pages" in told[-1]:
            provider.runs["resp_1"] = Finished(Answer("Two."))

    async with serving(home, provider) as client:
        call = {"conversationId": ID, "query": "three?"}
        data_of(await client.call_tool("search_followup", call, progress_callback=hear))
    assert any("the question before this one" in each for each in told)
    assert [message.content for message in provider.requests[0].messages[-3:]] == ["two?", "Two.", "three?"]


async def test_a_follow_up_that_is_given_up_while_such_a_run_goes_on_is_never_asked(home: Home) -> None:
    home.put(abandoned(young=True, responseId="resp_1"))
    provider = FakeProvider()
    provider.runs["resp_1"] = StillRunning("reading 14 pages")
    async with serving(home, provider, answer_wait_seconds=0.2) as client:
        call = ("search_followup", {"conversationId": ID, "query": "three?"})
        while not (busy := await client.call_tool(*call)).is_error:  # on a slow machine it is not in the queue yet
            assert data_of(busy)["status"] == "running"
        assert error_of(busy)["code"] == "CONVERSATION_BUSY"
        provider.runs["resp_1"] = Finished(Answer("Two."))
        while (again := await client.call_tool(*call)).is_error:  # on a slow machine it is given up, too
            assert error_of(again)["code"] == "CONVERSATION_BUSY"
    assert [request.messages[-1].content for request in provider.requests] == ["three?"]


@pytest.mark.parametrize("background", [False, True])
async def test_a_run_that_never_ends_at_its_provider_does_not_block_the_conversation(
    home: Home, background: bool
) -> None:
    home.put(abandoned(responseId="resp_1", background=background))
    provider = FakeProvider()
    provider.runs["resp_1"] = StillRunning("in progress since January")
    async with serving(home, provider) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"}))
    (left,) = home.only()["unansweredTurns"]
    assert (left["question"], left["status"]) == ("two?", "interrupted")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ProviderUnavailableError("it failed there.", maybe_billed=True), "failed", "PROVIDER_UNAVAILABLE"),
        (AnswerIncompleteError("no text."), "failed", "ANSWER_INCOMPLETE"),
        (RunCancelledError("fake"), "failed", "CANCELLED"),
        (RunLostError("fake"), "interrupted", "PROVIDER_UNAVAILABLE"),
    ],
)
async def test_a_run_without_an_answer_is_settled_once(
    home: Home, error: ProviderUnavailableError, status: str, code: str
) -> None:
    home.put(abandoned(responseId="resp_1"))
    error.usage = {"cost_usd": 0.4}
    provider = FakeProvider()
    provider.runs["resp_1"] = error
    async with serving(home, provider) as client:
        first = await history(client)
        await history(client)
        await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"})
    assert first["pendingTurn"] == IsPartialDict(
        status=status, error={"code": code, "message": error.message}, responseId="resp_1"
    )
    assert provider.fetched == ["resp_1"]
    left = home.only()["unansweredTurns"]
    assert [turn["question"] for turn in left] == ["two?"]


async def test_a_run_that_is_not_known_yet_is_not_given_up(home: Home) -> None:
    home.put(abandoned(young=True, responseId="resp_1"))
    async with serving(home, FakeProvider()) as client:
        page = await history(client)
    assert page["pendingTurn"]["status"] == "running"
    assert page["pendingAgeSeconds"] >= 0


async def test_a_provider_that_cannot_be_asked_leaves_the_turn_as_it_is_and_history_says_so(home: Home) -> None:
    home.put(abandoned(responseId="resp_1"))
    before = home.body(ID)
    provider = FakeProvider()
    provider.runs["resp_1"] = ProviderUnavailableError("fake cannot be reached.")
    async with serving(home, provider) as client:
        page = await history(client)
        refused = error_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"}))
    assert page["notices"] == ["fake cannot be reached."]
    assert refused["code"] == "PROVIDER_UNAVAILABLE"
    assert provider.requests == []
    assert home.body(ID) == before


async def test_a_turn_without_an_id_is_shown_as_interrupted_with_its_text(home: Home) -> None:
    home.put(abandoned(partialText="half an ans"))
    provider = FakeProvider()
    async with serving(home, provider) as client:
        result = await client.call_tool("get_conversation_history", {"conversationId": ID})
    assert data_of(result)["pendingTurn"] == IsPartialDict(status="interrupted", partialText="half an ans")
    assert "half an ans" in text_of(result)
    assert (provider.fetched, provider.requests) == ([], [])


async def test_history_waits_for_a_running_turn(home: Home) -> None:
    release, asked = anyio.Event(), anyio.Event()
    async with serving(home, FakeProvider(held(release, asked)), answer_wait_seconds=0) as client:
        running = data_of(await client.call_tool("search", {"query": "one?"}))
        await asked.wait()
        pages: list[dict[str, Any]] = []

        async def look() -> None:
            arguments = {"conversationId": running["conversationId"], "waitSeconds": 50}
            pages.append(data_of(await client.call_tool("get_conversation_history", arguments)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            await anyio.wait_all_tasks_blocked()
            assert pages == []
            release.set()
    assert pages[0]["messages"][-1]["content"] == "answer 1 to one? [1]"


async def test_another_servers_running_turn_is_waited_for_too(home: Home) -> None:
    release, asked = anyio.Event(), anyio.Event()
    pages: list[dict[str, Any]] = []
    async with (
        serving(home, FakeProvider(held(release, asked)), answer_wait_seconds=0) as one,
        serving(home, FakeProvider()) as two,
        anyio.create_task_group() as tasks,
    ):
        running = data_of(await one.call_tool("search", {"query": "one?"}))
        await asked.wait()

        async def look() -> None:
            arguments = {"conversationId": running["conversationId"], "waitSeconds": 50}
            pages.append(data_of(await two.call_tool("get_conversation_history", arguments)))

        tasks.start_soon(look)
        await anyio.wait_all_tasks_blocked()
        release.set()
    assert pages[0]["messages"][-1]["content"] == "answer 1 to one? [1]"
    assert pages[0] == IsPartialDict(conversationPath=IsStr)


async def test_a_run_whose_stream_broke_is_watched_to_its_end(home: Home) -> None:
    provider = FakeProvider(failing(StreamBrokenError("it broke."), Started("resp_1"), TextDelta("half")))
    provider.runs["resp_1"] = StillRunning("writing")
    results: list[dict[str, Any]] = []
    async with serving(home, provider) as client, anyio.create_task_group() as tasks:

        async def ask() -> None:
            results.append(data_of(await client.call_tool("search", {"query": "one?"})))

        tasks.start_soon(ask)
        with anyio.fail_after(60):
            while not provider.fetched:
                await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        assert home.only()["pendingTurn"] == IsPartialDict(status="running", background=True)
        provider.end_run("resp_1", Finished(Answer("whole")))
    assert results[0]["rawResultText"] == "whole"
    assert "fetched by its id" in results[0]["notices"][0]
    assert len(provider.requests) == 1


async def test_a_broken_stream_whose_run_is_lost_keeps_the_text_that_had_come(home: Home) -> None:
    provider = FakeProvider(failing(StreamBrokenError("it broke."), Started("resp_1"), TextDelta("half")))
    async with serving(home, provider) as client:
        error = error_of(await client.call_tool("search", {"query": "one?"}))
    assert error["message"].startswith("it broke.")
    assert home.only()["pendingTurn"] == IsPartialDict(status="failed", partialText="half")
