"""A consensus that ended before it had all verdicts: the same call takes up what is there, and nothing is paid twice."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from tests.fixtures.consulting import saying
from tests.fixtures.folders import only_conversation, only_file
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.providers import answer_to, failing, held
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event, Finished, ListedModel, Request
from conversation_mcp.records.options import Options
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.turns.ask import Ask, Seat

TOOLS = ("research", "manage", "models", "consult")
A, B = {"model": "openai:gpt-6-sol", "stance": "for"}, {"model": "gemini:pro", "stance": "against"}
SUM = {"synthesis": "openai:gpt-6-sol"}
OPENER = {"prompt": "Hm?", "model": "openai:gpt-6-sol"}


def opened(home: Home, *providers: FakeModels, **changes: Any) -> AbstractAsyncContextManager[Client]:
    return serving(home, *providers, tools=TOOLS, **changes)


async def consensus(client: Client, *models: dict[str, str], **more: Any) -> Any:
    return await client.call_tool("consensus", {"prompt": "Shall we?", "models": list(models), **more})


async def stopped(client: Client, asked: anyio.Event, **same: Any) -> None:
    """Ask A and B, and stop when the one that hangs has been asked."""
    async with anyio.create_task_group() as tasks:

        async def ask() -> None:
            assert error_of(await consensus(client, A, B, **same))["code"] == "CANCELLED"

        tasks.start_soon(ask)
        await asked.wait()
        await client.call_tool("cancel_turn", {"conversationId": same["conversationId"]})


async def left(home: Home, number: int, **facts: object) -> None:
    """Put the newest consensus back to where it was when its server died: its calls are there, and nothing else."""
    kept = home.only()
    place = next(at for at, one in enumerate(kept["messages"]) if one.get("stance"))
    question, *answers = kept["messages"][place - 1 :]
    calls = [
        {
            "provider": answer["provider"], "model": answer["requestedModel"], "stance": answer["stance"],
            "status": "completed", "answer": answer,
        }
        for answer in answers
    ]  # fmt: skip
    for call in calls[number:]:
        del call["answer"]
        call |= {"status": "running", "sentTo": {call["provider"]: "outside"}, **facts}
    pending = {
        "question": "Shall we?", "tool": "consensus", "status": "running", "startedAt": question["createdAt"],
        "calls": calls,
    }  # fmt: skip
    home.edit(kept["conversationId"], messages=kept["messages"][: place - 1], pendingTurn=pending)
    store = open_store(home.store_url, utc_now, is_durable=False)
    seats = tuple(Seat(one["model"], one["stance"]) for one in (A, B))
    ask = Ask("consensus", "chat", "Shall we?", "fast", options=Options(), seats=seats, synthesis=SUM["synthesis"])
    await store.calls.claim(ask.key("local", None), Call(kept["conversationId"], question["createdAt"]))


async def test_after_a_stop_the_same_call_asks_only_the_model_that_has_not_answered(home: Home) -> None:
    asked, never = anyio.Event(), anyio.Event()
    openai = FakeModels(saying("Hm."), saying("Yes."), name="openai")
    gemini = FakeModels(held(never, asked), saying("No."), name="gemini")
    async with opened(home, openai, gemini) as client:
        first = data_of(await client.call_tool("chat", OPENER))
        same = {"conversationId": first["conversationId"]}
        await stopped(client, asked, **same)
        result = data_of(await consensus(client, A, B, **same))
    assert [one["text"] for one in result["verdicts"]] == ["Yes.", "No."]
    assert (len(openai.requests), len(gemini.requests)) == (2, 2)
    kept = home.only()
    assert [one.get("stance") for one in kept["messages"][-2:]] == ["for", "against"]
    assert "pendingTurn" not in kept
    assert [(one["provider"], one["error"]["code"]) for one in kept["unansweredTurns"]] == [("gemini", "CANCELLED")]


async def test_another_question_in_between_loses_no_verdict_of_a_stopped_consensus(home: Home) -> None:
    asked, never = anyio.Event(), anyio.Event()
    openai = FakeModels(saying("Hm."), saying("Yes."), saying("Wait."), name="openai")
    gemini = FakeModels(held(never, asked), saying("No."), name="gemini")
    async with opened(home, openai, gemini) as client:
        first = data_of(await client.call_tool("chat", OPENER))
        same = {"conversationId": first["conversationId"]}
        await stopped(client, asked, **same)
        await client.call_tool("chat", {**OPENER, **same})
        result = data_of(await consensus(client, A, B, **same))
    assert [one["text"] for one in result["verdicts"]] == ["Yes.", "No."]
    assert len(openai.requests) == 3
    kept = home.only()
    assert [one["role"] for one in kept["messages"]][-3:] == ["user", "assistant", "assistant"]
    assert [one["provider"] for one in kept["unansweredTurns"]] == ["gemini"]


async def test_a_call_that_is_refused_in_between_loses_no_verdict(home: Home) -> None:
    asked, never = anyio.Event(), anyio.Event()
    openai, gemini = (
        FakeModels(saying("Hm."), saying("Yes."), name="openai"),
        FakeModels(held(never, asked), name="gemini"),
    )
    async with opened(home, openai, gemini) as client:
        first = data_of(await client.call_tool("chat", OPENER))
        same = {"conversationId": first["conversationId"]}
        await stopped(client, asked, **same)
    async with opened(home, openai, gemini, max_conversation_turns=1) as client:
        assert error_of(await consensus(client, A, B, **same))["code"] == "TURN_LIMIT_REACHED"
    gemini.scripts.append(saying("No."))
    async with opened(home, openai, gemini) as client:
        result = data_of(await consensus(client, A, B, **same))
    assert [one["text"] for one in result["verdicts"]] == ["Yes.", "No."]
    assert len(openai.requests) == 2


async def test_a_verdict_that_was_in_flight_is_asked_again_with_a_notice_and_stays_on_record(home: Home) -> None:
    openai, gemini = FakeModels(saying("Yes."), saying("Sum."), name="openai"), FakeModels(saying("No."), name="gemini")
    async with opened(home, openai, gemini) as client:
        data_of(await consensus(client, A, B, **SUM))
    await left(home, 1)
    openai, gemini = FakeModels(saying("Sum."), name="openai"), FakeModels(saying("No."), name="gemini")
    async with opened(home, openai, gemini) as client:
        read = await client.call_tool("get_conversation_history", {"conversationId": home.only()["conversationId"]})
        assert home.only()["pendingTurn"]["status"] == "interrupted"
        assert [one["status"] for one in home.only()["pendingTurn"]["calls"]] == ["completed", *["interrupted"] * 2]
        assert "- openai:gpt-6-sol (for): answered" in text_of(read)
        assert "(against): interrupted" in text_of(read)
        result = await consensus(client, A, B, **SUM)
    data = data_of(result)
    assert [one["text"] for one in data["verdicts"]] == ["Yes.", "No."]
    assert "notices" not in data["verdicts"][0]
    assert any("may be billed, too" in notice for notice in data["verdicts"][1]["notices"])
    assert "may be billed, too" in text_of(result)
    assert (len(openai.requests), len(gemini.requests)) == (1, 1)
    left_ones = [(one["provider"], one["status"]) for one in home.only()["unansweredTurns"]]
    assert left_ones == [("gemini", "interrupted"), ("openai", "interrupted")]


async def test_a_synthesis_that_was_answered_before_the_server_died_is_not_paid_twice(home: Home) -> None:
    openai, gemini = FakeModels(saying("Yes."), saying("Sum."), name="openai"), FakeModels(saying("No."), name="gemini")
    async with opened(home, openai, gemini) as client:
        data_of(await consensus(client, A, B, **SUM))
    whole = home.only()["messages"]
    await left(home, 3)
    openai, gemini = FakeModels(name="openai"), FakeModels(name="gemini")
    async with opened(home, openai, gemini) as client:
        result = data_of(await consensus(client, A, B, **SUM))
    assert [one["text"] for one in (*result["verdicts"], result["synthesis"])] == ["Yes.", "No.", "Sum."]
    assert (openai.requests, gemini.requests) == ([], [])
    assert [one["content"] for one in home.only()["messages"]] == [one["content"] for one in whole]


async def test_a_run_with_an_id_is_fetched_and_not_asked_again(home: Home) -> None:
    openai, gemini = FakeModels(saying("Yes."), saying("Sum."), name="openai"), FakeModels(saying("No."), name="gemini")
    async with opened(home, openai, gemini) as client:
        data_of(await consensus(client, A, B, **SUM))
    await left(home, 2, responseId="resp_7", background=True)
    openai, gemini = FakeModels(name="openai"), FakeModels(name="gemini")
    openai.runs["resp_7"] = Finished(Answer("Sum."))
    async with opened(home, openai, gemini) as client:
        result = data_of(await consensus(client, A, B, **SUM))
    assert result["synthesis"]["status"] == "completed"
    assert (openai.requests, gemini.requests) == ([], [])
    assert openai.fetched == ["resp_7"]


async def test_verdicts_that_cannot_be_saved_are_kept_and_saved_later(tmp_path: Path) -> None:
    release, asked, results = anyio.Event(), anyio.Event(), list[Any]()
    path, whole = tmp_path, b""
    openai, gemini = FakeModels(saying("Yes."), name="openai"), FakeModels(held(release, asked), name="gemini")
    async with serving(tmp_path, openai, gemini, tools=TOOLS) as client:

        async def ask() -> None:
            results.append(await consensus(client, A, B))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await asked.wait()
            path = only_file(tmp_path)
            whole = path.read_bytes()
            path.write_text("{")
            release.set()
        data = data_of(results[0])
        assert "THIS ANSWER IS NOT SAVED" in text_of(results[0])
        assert [one["text"] for one in data["verdicts"]] == ["Yes.", answer_to(gemini.requests[0], 1).content]
        assert "messageCount" not in data
        path.write_bytes(whole)
        await client.call_tool("get_conversation_history", {"conversationId": data["conversationId"]})
    kept = only_conversation(tmp_path)
    assert [one.get("stance") for one in kept["messages"]] == [None, None, "for", "against"]
    assert "pendingTurn" not in kept


async def test_a_consensus_of_which_all_requests_are_too_long_says_so_of_each(home: Home) -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("one", 1_000), ListedModel("two", 2_000)])
    async with opened(home, ollama) as client:
        error = error_of(
            await consensus(client, {"model": "ollama:one"}, {"model": "ollama:two"}, prompt="word " * 9_000)
        )
    assert error["code"] == "CONTEXT_TOO_LARGE"
    assert "one: " in error["message"]
    assert "two: " in error["message"]
    assert ollama.requests == []
    assert home.ids() == []


async def test_a_consensus_counts_as_one_turn(home: Home) -> None:
    openai, gemini = FakeModels(name="openai"), FakeModels(name="gemini")
    async with opened(home, openai, gemini, max_conversation_turns=2) as client:
        first = data_of(await consensus(client, A, B, **SUM))
        same = {"conversationId": first["conversationId"]}
        assert first["turn"] == 1
        second = data_of(await consensus(client, A, B, **same))
        assert second["turn"] == 2
        assert error_of(await consensus(client, A, B, **same))["code"] == "TURN_LIMIT_REACHED"


async def test_two_servers_that_get_the_same_consensus_pay_it_once(home: Home) -> None:
    release, asked, joined = anyio.Event(), anyio.Event(), anyio.Event()
    openai, gemini = FakeModels(saying("Yes."), name="openai"), FakeModels(held(release, asked), name="gemini")
    others = FakeModels(name="openai"), FakeModels(name="gemini")
    results: list[dict[str, Any]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        if "already being answered" in (message or ""):
            joined.set()

    async def ask(client: Client) -> None:
        arguments = {"prompt": "Shall we?", "models": [A, B]}
        results.append(data_of(await client.call_tool("consensus", arguments, progress_callback=hear)))

    async with opened(home, openai, gemini) as one, opened(home, *others) as two, anyio.create_task_group() as tasks:
        tasks.start_soon(ask, one)
        await asked.wait()
        tasks.start_soon(ask, two)
        await joined.wait()
        release.set()
    assert results[0]["verdicts"] == results[1]["verdicts"]
    assert not any(other.requests for other in others)


async def test_a_verdict_that_failed_is_asked_again_after_a_stop_of_the_synthesis(home: Home) -> None:
    never, asked = anyio.Event(), anyio.Event()

    async def hang(_request: Request) -> AsyncGenerator[Event]:
        asked.set()
        await never.wait()
        yield Finished(Answer("too late"))

    openai = FakeModels(saying("Hm."), saying("Yes."), hang, name="openai")
    gemini = FakeModels(failing(ProviderUnavailableError("down")), name="gemini")
    async with opened(home, openai, gemini) as client:
        first = data_of(await client.call_tool("chat", OPENER))
        same = {"conversationId": first["conversationId"], **SUM}
        await stopped(client, asked, **same)
        openai.scripts.append(saying("Sum."))
        gemini.scripts.append(saying("No."))
        result = data_of(await consensus(client, A, B, **same))
    assert [one["status"] for one in result["verdicts"]] == ["completed", "completed"]
    assert result["synthesis"]["text"] == "Sum."
    assert "No." in "".join(one.content for one in openai.requests[-1].messages)
