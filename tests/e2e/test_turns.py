"""What a turn leaves in the file, whatever becomes of it."""

import json
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict, IsStr
from tests.fixtures.folders import only_conversation, only_file
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider, failing, held
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import AnswerIncompleteError, ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event, Finished, Request, Started, TextDelta


async def test_the_question_is_on_disk_before_it_is_sent(home: Home) -> None:
    seen: list[dict[str, Any]] = []

    async def look(_request: Request) -> AsyncGenerator[Event]:
        seen.append(await anyio.to_thread.run_sync(home.only))
        yield Finished(Answer("done"))

    async with serving(home, FakeProvider(look)) as client:
        await client.call_tool("search", {"query": "one?", "model": "a/b", "search_mode": "web"})
    assert seen[0]["pendingTurn"] == {
        "question": "one?",
        "tool": "search",
        "provider": "fake",
        "model": "a/b",
        "sentTo": {"fake": "outside"},
        "options": {"search_mode": "web"},
        "status": "running",
        "startedAt": IsStr,
    }
    assert [message["role"] for message in seen[0]["messages"]] == ["system"]


async def test_a_slow_answer_is_reported_as_running_and_saved_when_it_comes(home: Home) -> None:
    release = anyio.Event()
    async with serving(home, FakeProvider(held(release)), answer_wait_seconds=0) as client:
        result = await client.call_tool("deep_research", {"query": "one?"})
        running = data_of(result)
        assert running == IsPartialDict(status="running", conversationId=IsStr, nextStep=IsStr)
        assert "get_conversation_history" in text_of(result)
        history = data_of(
            await client.call_tool("get_conversation_history", {"conversationId": running["conversationId"]})
        )
        assert history["pendingTurn"]["question"] == "one?"
        assert history["pendingTurn"]["status"] == "running"
        release.set()
        answered = await home.until_settled()
    assert [message["content"] for message in answered["messages"][1:]] == ["one?", "answer 1 to one? [1]"]


async def test_a_cancelled_request_leaves_its_turn_running(home: Home) -> None:
    release, asked = anyio.Event(), anyio.Event()
    async with serving(home, FakeProvider(held(release, asked))) as client:
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await client.call_tool("search", {"query": "one?"})

            tasks.start_soon(ask)
            await asked.wait()
            tasks.cancel_scope.cancel()
        release.set()
        answered = await home.until_settled()
    assert answered["messages"][-1]["content"] == "answer 1 to one? [1]"


async def test_progress_carries_the_conversation_id_from_the_first_message_on(home: Home) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with serving(home, FakeProvider()) as client:
        data = data_of(await client.call_tool("search", {"query": "one?"}, progress_callback=hear))
    assert heard
    assert all(data["conversationId"] in (message or "") for message in heard)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ProviderUnavailableError("the stream broke off.", maybe_billed=True), "PROVIDER_UNAVAILABLE"),
        (AnswerIncompleteError("the answer was empty."), "ANSWER_INCOMPLETE"),
    ],
)
async def test_a_failed_question_is_kept_with_its_text_and_cost_and_never_sent_again(
    home: Home, error: AnswerIncompleteError, code: str
) -> None:
    error.usage = {"cost_usd": 0.021, "output_tokens": 16}
    provider = FakeProvider(failing(error, Started("resp_1"), TextDelta("half an ans")))
    async with serving(home, provider) as client:
        failed = error_of(await client.call_tool("search", {"query": "one?"}))
        assert failed["code"] == code
        after_failure = await anyio.to_thread.run_sync(home.only)
        await client.call_tool("search_followup", {"conversationId": failed["conversationId"], "query": "two?"})
    expected = IsPartialDict(
        question="one?",
        status="failed",
        responseId="resp_1",
        partialText="half an ans",
        error={"code": code, "message": error.message},
        usage={"costUsd": 0.021, "outputTokens": 16},
    )
    assert after_failure["pendingTurn"] == expected
    conversation = home.only()
    assert conversation["unansweredTurns"] == [expected]
    assert "pendingTurn" not in conversation
    assert [message["role"] for message in conversation["messages"]] == ["system", "user", "assistant"]
    assert [message.content for message in provider.requests[-1].messages[1:]] == ["two?"]


async def test_a_bug_is_an_internal_error_with_a_reference_and_the_server_goes_on(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(home, FakeProvider(failing(ZeroDivisionError("secret detail")))) as client:
        error = error_of(await client.call_tool("search", {"query": "one?"}))
        again = data_of(await client.call_tool("search", {"query": "two?"}))
    assert error["code"] == "INTERNAL_ERROR"
    assert "secret detail" not in error["message"]
    reference = error["message"].split("reference ")[1][:8]
    assert reference in caplog.text
    assert again["status"] == "completed"


async def test_an_edit_by_hand_during_the_answer_is_kept(tmp_path: Path) -> None:
    release, asked = anyio.Event(), anyio.Event()
    async with serving(tmp_path, FakeProvider(held(release, asked))) as client, anyio.create_task_group() as tasks:

        async def ask() -> None:
            await client.call_tool("search", {"query": "one?"})

        tasks.start_soon(ask)
        await asked.wait()
        edited = only_conversation(tmp_path) | {"title": "By hand", "note": None}
        only_file(tmp_path).write_text(json.dumps(edited), encoding="utf-8")
        release.set()
    conversation = only_conversation(tmp_path)
    assert (conversation["title"], conversation["note"]) == ("By hand", None)
    assert conversation["messages"][-1]["content"] == "answer 1 to one? [1]"


async def test_a_question_edited_by_hand_during_its_answer_is_answered_once(tmp_path: Path) -> None:
    release, asked = anyio.Event(), anyio.Event()
    async with serving(tmp_path, FakeProvider(held(release, asked))) as client, anyio.create_task_group() as tasks:

        async def ask() -> None:
            await client.call_tool("search", {"query": "one?"})

        tasks.start_soon(ask)
        await asked.wait()
        edited = only_conversation(tmp_path)
        edited["pendingTurn"]["question"] = "One, please?"
        only_file(tmp_path).write_text(json.dumps(edited), encoding="utf-8")
        release.set()
    conversation = only_conversation(tmp_path)
    assert [message["content"] for message in conversation["messages"][1:]] == ["one?", "answer 1 to one? [1]"]
    assert "pendingTurn" not in conversation


async def test_an_answer_that_cannot_be_saved_is_still_returned_with_a_loud_notice(tmp_path: Path) -> None:
    async def lose_the_folder(_request: Request) -> AsyncGenerator[Event]:
        await anyio.to_thread.run_sync(shutil.rmtree, tmp_path / "conversation-logs")
        yield Finished(Answer("precious"))

    async with serving(tmp_path, FakeProvider(lose_the_folder)) as client:
        result = await client.call_tool("search", {"query": "one?"})
    data = data_of(result)
    assert data["rawResultText"] == "precious"
    assert data["notices"][0].startswith("THIS ANSWER IS NOT SAVED")
    assert "THIS ANSWER IS NOT SAVED" in text_of(result)


async def test_a_server_that_ends_marks_its_turn_as_interrupted(home: Home) -> None:
    asked = anyio.Event()
    provider = FakeProvider(held(anyio.Event(), asked))
    async with serving(home, provider, answer_wait_seconds=0) as client:
        await client.call_tool("search", {"query": "one?"})
        await asked.wait()
    assert home.only()["pendingTurn"] == IsPartialDict(question="one?", status="interrupted")


async def test_the_same_call_joins_the_running_turn(home: Home) -> None:
    release, asked = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(release, asked))
    answers: list[str] = []
    async with serving(home, provider) as client, anyio.create_task_group() as tasks:

        async def ask() -> None:
            answers.append(data_of(await client.call_tool("search", {"query": "one?"}))["conversationId"])

        tasks.start_soon(ask)
        await asked.wait()
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        release.set()
    assert len(set(answers)) == 1
    assert len(provider.requests) == 1


async def test_a_second_follow_up_waits_for_the_first_and_sees_its_answer(home: Home) -> None:
    release, asked = anyio.Event(), anyio.Event()
    provider = FakeProvider()
    async with serving(home, provider) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        provider.scripts.append(held(release, asked))
        async with anyio.create_task_group() as tasks:

            async def ask(query: str) -> None:
                await client.call_tool("search_followup", {"conversationId": first["conversationId"], "query": query})

            tasks.start_soon(ask, "two?")
            await asked.wait()
            tasks.start_soon(ask, "three?")
            await anyio.wait_all_tasks_blocked()
            release.set()
    assert [message.content for message in provider.requests[-1].messages[1:]][-3:] == [
        "two?",
        "answer 1 to two? [1]",
        "three?",
    ]


async def test_a_follow_up_that_waited_too_long_is_busy_and_was_not_sent(home: Home) -> None:
    release, asked = anyio.Event(), anyio.Event()
    provider = FakeProvider()
    async with serving(home, provider, lock_wait_seconds=0, answer_wait_seconds=5) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        provider.scripts.append(held(release, asked))
        busy: dict[str, Any] = {}
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await client.call_tool("search_followup", {**conversation, "query": "two?"})

            tasks.start_soon(ask)
            await asked.wait()
            busy = error_of(await client.call_tool("search_followup", {**conversation, "query": "three?"}))
            release.set()
    assert busy == IsPartialDict(code="CONVERSATION_BUSY", retryable=True, conversationId=first["conversationId"])
    assert len(provider.requests) == 2


async def test_a_conversation_at_its_turn_limit_takes_no_more_questions(home: Home) -> None:
    provider = FakeProvider()
    async with serving(home, provider, max_conversation_turns=1) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        error = error_of(await client.call_tool("search_followup", {**conversation, "query": "two?"}))
    assert error["code"] == "TURN_LIMIT_REACHED"
    assert len(provider.requests) == 1
    assert "pendingTurn" not in home.only()
