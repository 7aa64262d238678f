"""The tasks extension: a question is a task, for clients that declare it and for no others."""

from pathlib import Path

import anyio
import pytest
from dirty_equals import IsPartialDict, IsStr
from mcp import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
)
from tests.fixtures.folders import ID, left_behind, only_conversation
from tests.fixtures.providers import FakeProvider, failing, held
from tests.fixtures.serving import data_of, error_of, serving
from tests.fixtures.stores import tree
from tests.fixtures.tasks import KNOWS_TASKS, asked, begun, ended

from conversation_mcp.errors import ProviderUnavailableError, RunCancelledError
from conversation_mcp.providers.base import Answer, Finished, Started
from conversation_mcp.records.models import ConversationId
from conversation_mcp.server.task_states import place_of, task_id_of
from conversation_mcp.turns.ask import QuestionPlace

KEY = "0f" * 32
LEFT = f"{ID}.1769817600000.{KEY}"
"""The id of the task that `left_behind` leaves behind."""
METHODS: list[tuple[str, dict[str, object]]] = [
    ("tasks/get", {}),
    ("tasks/cancel", {}),
    ("tasks/update", {"inputResponses": {}}),
]


async def test_every_asking_tool_becomes_a_task_whose_end_holds_its_result(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), client_options=KNOWS_TASKS) as client:
        follow = {"conversationId": (await begun(client, "search", query="0?"))["taskId"][:22]}
        none: dict[str, str] = {}
        calls = [
            ("search", none),
            ("deep_research", none),
            ("search_followup", follow),
            ("deep_research_followup", follow),
        ]
        for number, (tool, arguments) in enumerate(calls, 2):
            created = await begun(client, tool, query="why?", **arguments)
            end = await ended(client, created["taskId"])
            assert end["result"]["structuredContent"]["rawResultText"] == f"answer {number} to why? [1]"


async def test_the_result_of_a_task_is_the_result_of_the_tool(tmp_path: Path) -> None:
    arguments: dict[str, object] = {"query": "one?", "showThinking": True}
    async with serving(tmp_path / "plain", FakeProvider()) as client:
        plain = await client.call_tool("search", arguments)
    async with serving(tmp_path / "tasks", FakeProvider(), client_options=KNOWS_TASKS) as client:
        end = await ended(client, (await begun(client, "search", **arguments))["taskId"])
        as_task = CallToolResult.model_validate(end["result"])
        identifier = data_of(as_task)["conversationId"]
        await client.call_tool("search_followup", {"conversationId": identifier, "query": "two?"})
        assert await asked(client, "tasks/get", end["taskId"]) == end
    ours, theirs = (
        result.model_dump_json(exclude={"meta"}).replace(data_of(result)["conversationId"], ID).replace(folder, "")
        for result, folder in ((as_task, "/tasks/"), (plain, "/plain/"))
    )
    assert ours == theirs


async def test_a_new_task_says_where_it_stands_and_can_be_asked_for_at_once(tmp_path: Path) -> None:
    release = anyio.Event()
    async with serving(tmp_path, FakeProvider(held(release)), client_options=KNOWS_TASKS) as client:
        created = await begun(client, "deep_research", query="one?")
        task = await asked(client, "tasks/get", created["taskId"])
        pending = only_conversation(tmp_path)["pendingTurn"]
        release.set()
        end = await ended(client, created["taskId"])
    assert created == IsPartialDict(
        resultType="task",
        taskId=IsStr(regex=rf"{only_conversation(tmp_path)['conversationId']}\.\d{{13}}\.[0-9a-f]{{64}}"),
        status="working",
        createdAt=pending["startedAt"],
        lastUpdatedAt=pending["startedAt"],
        ttlMs=None,
        pollIntervalMs=2_000,
    )
    assert task == IsPartialDict(resultType="complete", status="working", statusMessage="asking fake")
    assert end == IsPartialDict(status="completed", createdAt=pending["startedAt"])
    assert "result" not in created
    assert "result" not in task


async def test_the_same_call_again_is_the_same_task_until_its_end_was_told(tmp_path: Path) -> None:
    release, provider = anyio.Event(), FakeProvider()
    provider.scripts.append(held(release))
    async with serving(tmp_path, provider, client_options=KNOWS_TASKS) as client:
        one, two = [await begun(client, "search", query="one?") for _ in range(2)]
        release.set()
        await ended(client, one["taskId"])
        provider.scripts.append(held(anyio.Event()))
        three = await begun(client, "search", query="one?")
    assert one["taskId"] == two["taskId"]
    assert three["taskId"] != one["taskId"]
    assert len(provider.requests) == 2


async def test_a_start_whose_failure_was_told_goes_on_in_its_conversation(tmp_path: Path) -> None:
    provider = FakeProvider(failing(ProviderUnavailableError("the provider fell over.", maybe_billed=True)))
    async with serving(tmp_path, provider, client_options=KNOWS_TASKS) as client:
        failed = await ended(client, (await begun(client, "search", query="one?"))["taskId"])
        assert await asked(client, "tasks/get", failed["taskId"]) == failed
        again = await ended(client, (await begun(client, "search", query="one?"))["taskId"])
    told = failed["result"]["structuredContent"]
    assert told["code"] == "PROVIDER_UNAVAILABLE"
    assert again["result"]["structuredContent"] == IsPartialDict(conversationId=told["conversationId"], messageCount=3)


async def test_two_servers_speak_of_the_same_task(tmp_path: Path) -> None:
    release, other = anyio.Event(), FakeProvider()
    async with (
        serving(tmp_path, FakeProvider(held(release)), client_options=KNOWS_TASKS) as client,
        serving(tmp_path, other, client_options=KNOWS_TASKS) as second,
    ):
        one = await begun(client, "search", query="one?")
        two = await begun(second, "search", query="one?")
        assert (await asked(second, "tasks/get", one["taskId"]))["status"] == "working"
        release.set()
        assert await ended(second, two["taskId"]) == IsPartialDict(status="completed")
    assert one["taskId"] == two["taskId"]
    assert other.requests == []


async def test_a_task_survives_its_server_and_is_settled_by_fetching_its_run(tmp_path: Path) -> None:
    dying = FakeProvider(held(anyio.Event(), background=True))
    async with serving(tmp_path, dying, client_options=KNOWS_TASKS) as client:
        task_id = (await begun(client, "deep_research", query="one?", showThinking=True))["taskId"]
        with anyio.fail_after(60):
            while "responseId" not in only_conversation(tmp_path)["pendingTurn"]:
                await anyio.lowlevel.checkpoint()
    provider = FakeProvider()
    provider.runs["resp_held"] = Finished(Answer("whole after all", reasoning="I thought."))
    async with serving(tmp_path, provider, client_options=KNOWS_TASKS) as client:
        end = await ended(client, task_id)
        data_of(await client.call_tool("deep_research", {"query": "one?", "showThinking": True}))
    assert end["result"]["structuredContent"] == IsPartialDict(
        status="completed", rawResultText="whole after all", reasoning="I thought."
    )
    assert end["result"]["content"][0]["text"].startswith(f"Conversation {end['taskId'][:22]} started")
    assert (provider.fetched, len(provider.requests)) == (["resp_held"], 1)


async def test_what_cannot_be_asked_is_refused_at_once_and_makes_no_task(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), client_options=KNOWS_TASKS) as client:
        refused = await client.session.call_tool("search", {"query": " "}, allow_claimed=True)
        missing = await client.session.call_tool("search", {}, allow_claimed=True)
        unknown = await client.session.call_tool("find", {}, allow_claimed=True)
    assert [getattr(result, "is_error", False) for result in (refused, missing, unknown)] == [True, True, True]
    assert tree(tmp_path) == []


async def test_the_history_asks_nothing_and_is_never_a_task(tmp_path: Path) -> None:
    left_behind(tmp_path)
    async with serving(tmp_path, FakeProvider(), client_options=KNOWS_TASKS) as client:
        page = await client.session.call_tool("get_conversation_history", {"conversationId": ID}, allow_claimed=True)
    assert getattr(page, "structured_content", {}) == IsPartialDict(conversationId=ID)


async def test_a_question_that_failed_is_a_completed_task_with_the_error_of_the_tool(tmp_path: Path) -> None:
    error = ProviderUnavailableError("the provider fell over.", maybe_billed=True)
    async with serving(tmp_path, FakeProvider(failing(error, Started("r"))), client_options=KNOWS_TASKS) as client:
        failed = error_of(await client.call_tool("search", {"query": "one?"}))
    assert failed == IsPartialDict(
        code="PROVIDER_UNAVAILABLE", message=IsStr(regex="the provider fell over.*Ask again.*")
    )


async def test_a_crash_is_a_failed_task_with_a_protocol_error(tmp_path: Path) -> None:
    provider = FakeProvider(failing(ZeroDivisionError()))
    async with serving(tmp_path, provider, client_options=KNOWS_TASKS) as client:
        end = await ended(client, (await begun(client, "search", query="one?"))["taskId"])
    assert end == IsPartialDict(status="failed", error={"code": INTERNAL_ERROR, "message": end["statusMessage"]})
    assert "result" not in end


async def test_cancelling_stops_the_run_at_its_provider_and_is_acknowledged_again_and_again(tmp_path: Path) -> None:
    provider = FakeProvider(held(anyio.Event()))
    provider.runs["resp_held"] = RunCancelledError("fake")
    async with serving(tmp_path, provider, client_options=KNOWS_TASKS) as client:
        task_id = (await begun(client, "search", query="one?"))["taskId"]
        acknowledged = [await asked(client, "tasks/cancel", task_id) for _ in range(2)]
        end = await ended(client, task_id)
    assert acknowledged == [{"resultType": "complete"}] * 2
    assert end == IsPartialDict(status="cancelled")
    assert {"result", "error"}.isdisjoint(end)
    assert only_conversation(tmp_path)["pendingTurn"]["status"] == "failed"


async def test_cancelling_an_old_task_leaves_the_running_question_of_its_conversation_alone(tmp_path: Path) -> None:
    release, provider = anyio.Event(), FakeProvider()
    async with serving(tmp_path, provider, client_options=KNOWS_TASKS) as client:
        old = await begun(client, "search", query="one?")
        end = await ended(client, old["taskId"])
        follow = {"conversationId": end["taskId"][:22], "query": "two?"}
        provider.scripts.append(held(release))
        new = await begun(client, "search_followup", **follow)
        await asked(client, "tasks/cancel", old["taskId"])
        release.set()
        assert (await ended(client, new["taskId"]))["status"] == "completed"


async def test_a_question_set_aside_unanswered_is_a_failed_task_and_not_asked_for_again(tmp_path: Path) -> None:
    left_behind(tmp_path)
    provider = FakeProvider()
    async with serving(tmp_path, provider, client_options=KNOWS_TASKS) as client:
        await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"})
        end = await asked(client, "tasks/get", LEFT)
    assert end == IsPartialDict(status="failed")
    assert only_conversation(tmp_path)["unansweredTurns"][0]["question"] == "two?"


@pytest.mark.parametrize("status", ["running", "interrupted"])
async def test_a_provider_that_cannot_be_reached_leaves_the_task_working(tmp_path: Path, status: str) -> None:
    left_behind(tmp_path, status=status, responseId="resp_1")
    provider = FakeProvider()
    provider.runs["resp_1"] = ProviderUnavailableError("no network.")
    async with serving(tmp_path, provider, client_options=KNOWS_TASKS) as client:
        task = await asked(client, "tasks/get", LEFT)
    assert task == IsPartialDict(status="working", statusMessage="no network.")


@pytest.mark.parametrize(("method", "params"), METHODS)
@pytest.mark.parametrize(
    "task_id", ["", "x", ID, f"{ID}.1769817600001.{KEY}", f"20260131-1769817600001.1769817600000.{KEY}", "../" * 9]
)
async def test_an_unknown_task_is_a_protocol_error(
    tmp_path: Path, method: str, params: dict[str, object], task_id: str
) -> None:
    left_behind(tmp_path, status="failed", error={"code": "PROVIDER_AUTH", "message": "no key."})
    before = tree(tmp_path)
    async with serving(tmp_path, FakeProvider(), client_options=KNOWS_TASKS) as client:
        with pytest.raises(MCPError, match="there is no task") as caught:
            await asked(client, method, task_id, **params)
    assert caught.value.code == INVALID_PARAMS
    assert tree(tmp_path) == before


async def test_a_task_whose_file_cannot_be_read_says_so_in_the_words_of_the_tools(tmp_path: Path) -> None:
    left_behind(tmp_path).write_text("{", encoding="utf-8")
    async with serving(tmp_path, FakeProvider(), client_options=KNOWS_TASKS) as client:
        with pytest.raises(MCPError, match="CONVERSATION_CORRUPTED") as caught:
            await asked(client, "tasks/get", LEFT)
    assert caught.value.code == INTERNAL_ERROR


async def test_a_client_that_does_not_declare_it_gets_results_and_no_methods(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as client:
        data_of(await client.call_tool("search", {"query": "one?"}))
        for method, params in METHODS:
            with pytest.raises(MCPError) as caught:
                await asked(client, method, LEFT, **params)
            assert caught.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY
            assert caught.value.data == {"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}


async def test_the_old_era_knows_no_tasks_whatever_a_client_declares(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), era="legacy", client_options=KNOWS_TASKS) as client:
        data_of(await client.call_tool("search", {"query": "one?"}))
        for method, params in METHODS:
            with pytest.raises(MCPError) as caught:
                await asked(client, method, LEFT, **params)
            assert caught.value.code == METHOD_NOT_FOUND


async def test_the_extension_is_advertised(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as client:
        assert client.server_capabilities.extensions == {"io.modelcontextprotocol/tasks": {}}


@pytest.mark.parametrize("show_thinking", [False, True])
def test_an_id_says_where_the_question_stands(show_thinking: bool) -> None:
    place = QuestionPlace(ConversationId(ID), "2026-01-31T00:00:00.007Z", KEY, show_thinking)
    assert place_of(task_id_of(place)) == place
