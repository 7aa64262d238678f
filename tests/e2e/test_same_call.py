"""The same call again, as models make it after a timeout: joined or delivered, one paid call."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from dirty_equals import IsPartialDict, IsStr
from mcp import Client
from mcp.types import CallToolResult
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider, failing, held
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event, Finished, Request, Started

CALL = ("deep_research", {"query": "one?"})


class Joining:
    """Hears that a call waits for the same one made elsewhere."""

    def __init__(self) -> None:
        self.begun = anyio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        if "already being answered" in (message or ""):
            self.begun.set()


async def test_a_result_that_was_never_delivered_is_given_to_the_same_call_with_a_notice(home: Home) -> None:
    release = anyio.Event()
    provider = FakeProvider(held(release))
    async with serving(home, provider, answer_wait_seconds=0) as client:
        running = data_of(await client.call_tool(*CALL))
        release.set()
        await home.until_settled()
    async with serving(home, provider) as client:
        again = await client.call_tool(*CALL)
    assert data_of(again) == IsPartialDict(
        status="completed", conversationId=running["conversationId"], rawResultText="answer 1 to one? [1]"
    )
    assert "never delivered" in text_of(again)
    assert len(provider.requests) == 1


async def test_another_server_delivers_it_too(home: Home) -> None:
    release, other = anyio.Event(), FakeProvider()
    async with serving(home, FakeProvider(held(release)), answer_wait_seconds=0) as client:
        running = data_of(await client.call_tool(*CALL))
        release.set()
        await home.until_settled()
        async with serving(home, other) as second:
            again = data_of(await second.call_tool(*CALL))
    assert again["conversationId"] == running["conversationId"]
    assert other.requests == []


async def test_another_server_joins_a_call_that_still_runs(home: Home) -> None:
    release, asked, joining = anyio.Event(), anyio.Event(), Joining()
    first, other = FakeProvider(held(release, asked)), FakeProvider()
    results: list[str] = []
    async with serving(home, first) as one, serving(home, other) as two, anyio.create_task_group() as tasks:

        async def ask(client: Client) -> None:
            result = data_of(await client.call_tool(*CALL, progress_callback=joining))
            results.append(result["conversationId"] + result["rawResultText"])

        tasks.start_soon(ask, one)
        await asked.wait()
        tasks.start_soon(ask, two)
        await joining.begun.wait()
        release.set()
    assert len(results) == 2
    assert len(set(results)) == 1
    assert other.requests == []


async def test_a_follow_up_is_joined_across_servers_as_well(home: Home) -> None:
    release, asked, joining = anyio.Event(), anyio.Event(), Joining()
    first, other = FakeProvider(), FakeProvider()
    async with serving(home, first) as one, serving(home, other) as two:
        start = data_of(await one.call_tool("search", {"query": "one?"}))
        first.scripts.append(held(release, asked))
        call = ("search_followup", {"conversationId": start["conversationId"], "query": "two?"})
        async with anyio.create_task_group() as tasks:

            async def ask(client: Client) -> None:
                await client.call_tool(*call, progress_callback=joining)

            tasks.start_soon(ask, one)
            await asked.wait()
            tasks.start_soon(ask, two)
            await joining.begun.wait()
            release.set()
    assert other.requests == []
    contents = [message["content"] for message in home.only()["messages"]]
    assert contents.count("two?") == 1


async def test_after_its_delivery_the_same_call_asks_anew(home: Home) -> None:
    provider = FakeProvider()
    async with serving(home, provider) as client:
        first = data_of(await client.call_tool(*CALL))
        second = data_of(await client.call_tool(*CALL))
    assert first["conversationId"] != second["conversationId"]
    assert "notices" not in second
    assert len(provider.requests) == 2


async def test_another_question_another_filter_or_another_tool_is_another_call(home: Home) -> None:
    release = anyio.Event()
    provider = FakeProvider(*(held(release) for _ in range(4)))
    async with serving(home, provider, answer_wait_seconds=0) as client:
        ids = {
            data_of(await client.call_tool(tool, arguments))["conversationId"]
            for tool, arguments in (
                ("search", {"query": "one?"}),
                ("search", {"query": "one!"}),
                ("search", {"query": "one?", "search_mode": "academic"}),
                ("deep_research", {"query": "one?"}),
            )
        }
        release.set()
    assert len(ids) == 4


async def test_a_failure_that_nobody_heard_of_is_told_once_and_then_asked_anew(home: Home) -> None:
    release = anyio.Event()

    async def fails_late(_request: Request) -> AsyncGenerator[Event]:
        yield Started("resp_1")
        await release.wait()
        raise ProviderUnavailableError("the provider fell over.", maybe_billed=True)

    provider = FakeProvider(fails_late)
    async with serving(home, provider, answer_wait_seconds=0) as client:
        await client.call_tool(*CALL)
        release.set()
        with anyio.fail_after(60):
            while home.only()["pendingTurn"]["status"] == "running":
                await anyio.lowlevel.checkpoint()
    async with serving(home, provider) as client:
        told = error_of(await client.call_tool(*CALL))
        assert len(provider.requests) == 1
        data_of(await client.call_tool(*CALL))
    assert told == IsPartialDict(
        code="PROVIDER_UNAVAILABLE", message=IsStr(regex="the provider fell over.*Ask again.*")
    )
    assert len(provider.requests) == 2


async def test_a_call_whose_server_died_is_settled_by_its_id_and_not_asked_again(home: Home) -> None:
    release = anyio.Event()
    first = FakeProvider(held(release))
    async with serving(home, first, answer_wait_seconds=0, ending_grace_seconds=0) as client:
        running = data_of(await client.call_tool(*CALL))
    second = FakeProvider()
    second.runs["resp_held"] = Finished(Answer("whole after all"))
    async with serving(home, second) as client:
        again = data_of(await client.call_tool(*CALL))
    assert again == IsPartialDict(conversationId=running["conversationId"], rawResultText="whole after all")
    assert second.requests == []
    assert second.fetched == ["resp_held"]


async def test_who_waits_for_a_call_whose_server_dies_is_told_so_and_does_not_pay_again(home: Home) -> None:
    asked, joined, died = anyio.Event(), anyio.Event(), anyio.Event()

    async def without_id(_request: Request) -> AsyncGenerator[Event]:
        asked.set()
        await anyio.sleep_forever()
        yield Started("")

    async def told(progress: float, total: float | None, message: str | None) -> None:
        del progress, total, message
        joined.set()

    results: list[CallToolResult] = []
    other = FakeProvider()
    async with serving(home, other) as two, anyio.create_task_group() as tasks:

        async def join() -> None:
            results.append(await two.call_tool(*CALL, progress_callback=told))
            died.set()

        async with serving(home, FakeProvider(without_id), answer_wait_seconds=0, ending_grace_seconds=0) as one:
            await one.call_tool(*CALL)
            await asked.wait()
            tasks.start_soon(join)
            with anyio.fail_after(60):
                await joined.wait()
        with anyio.fail_after(60):
            await died.wait()
        assert other.requests == []
        data_of(await two.call_tool(*CALL))
    error = error_of(results[0])
    assert error == IsPartialDict(code="PROVIDER_UNAVAILABLE", message=IsStr(regex=".*ended.*may have been billed.*"))
    assert error["conversationId"]
    assert len(other.requests) == 1


async def test_a_register_that_cannot_be_written_hides_no_failure(tmp_path: Path) -> None:
    async def breaking(_request: Request) -> AsyncGenerator[Event]:
        yield Started("resp_1")
        await anyio.Path(tmp_path, "conversation-logs", ".calls").rename(tmp_path / "calls")
        await anyio.Path(tmp_path, "conversation-logs", ".calls").symlink_to(tmp_path / "calls")
        raise ProviderUnavailableError("the provider fell over.", maybe_billed=True)

    async with serving(tmp_path, FakeProvider(breaking)) as client:
        error = error_of(await client.call_tool(*CALL))
    assert error == IsPartialDict(code="PROVIDER_UNAVAILABLE", message=IsStr(regex=".*fell over.*"))


async def test_a_start_that_failed_goes_on_in_its_conversation_when_it_is_called_again(home: Home) -> None:  # defect 14
    failure = ProviderUnavailableError("the provider fell over.", maybe_billed=True)
    failure.usage = {"cost_usd": 0.25}
    provider = FakeProvider(failing(failure))
    async with serving(home, provider) as client:
        result = await client.call_tool(*CALL)
        failed = error_of(result)
        assert f"The question is kept in {failed['conversationId']}." in text_of(result)
        again = data_of(await client.call_tool(*CALL))
        assert again["conversationId"] == failed["conversationId"]
        assert "notices" not in again
        assert data_of(await client.call_tool(*CALL))["conversationId"] != failed["conversationId"]
    stored = home.stored(failed["conversationId"])
    assert [message["role"] for message in stored["messages"]] == ["system", "user", "assistant"]
    assert [turn["usage"] for turn in stored["unansweredTurns"]] == [{"costUsd": 0.25}]


async def test_a_failed_start_that_was_deleted_or_gone_on_with_is_not_taken_up_again(home: Home) -> None:
    failure = ProviderUnavailableError("the provider fell over.", maybe_billed=True)
    provider = FakeProvider(failing(failure))
    async with serving(home, provider) as client:
        failed = error_of(await client.call_tool(*CALL))["conversationId"]
        data_of(await client.call_tool("search_followup", {"conversationId": failed, "query": "another?"}))
        assert data_of(await client.call_tool(*CALL))["conversationId"] != failed


@pytest.mark.parametrize("times", range(5))
async def test_a_follow_up_that_was_cancelled_and_is_called_again_at_once_is_asked(home: Home, times: int) -> None:
    provider = FakeProvider()
    async with serving(home, provider) as client:
        first = data_of(await client.call_tool(*CALL))["conversationId"]
        call = ("search_followup", {"conversationId": first, "query": "again?"})
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, *call)
                for _ in range(times + 1):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
        assert data_of(await client.call_tool(*call))["rawResultText"]
    assert [request.messages[-1].content for request in provider.requests].count("again?") == 1
