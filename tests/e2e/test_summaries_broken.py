"""Summaries that fail or are broken off, and who may get the words for one."""

from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict, IsStr
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home
from tests.fixtures.providers import failing
from tests.fixtures.serving import serving, settings_for
from tests.fixtures.summaries import SMALL, WRITER, ask, endless, long_talk, ollama, openai, texts, writing

from conversation_mcp.bootstrap import open_app
from conversation_mcp.conversations.prices import Prices
from conversation_mcp.errors import ContextTooLargeError, ProviderUnavailableError
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.records.costs import total_cost
from conversation_mcp.turns.ask import Ask, Caller

TOOLS = ("research", "models", "manage")
SET: dict[str, Any] = {"tools": TOOLS, "summaries": WRITER}
NEXT = Ask("chat", "chat", "And now?", "", model=SMALL)
PRICES = Prices(Catalogue({}).load())
PARENT = "20260130-1769731200000"


@pytest.fixture
def talk(home: Home) -> Home:
    home.put(long_talk())
    return home


def notices(result: dict[str, Any], word: str) -> list[str]:
    return [notice for notice in result.get("notices", []) if word in notice]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (failing(ProviderUnavailableError("openai is down.")), "openai is down"),
        (writing(""), "it was empty"),
    ],
)
async def test_a_summary_that_fails_leaves_a_hole_with_a_notice_and_is_not_tried_again_in_this_turn(
    talk: Home,
    script: Any,
    why: str,
) -> None:
    here, writer = ollama(), openai(script)
    async with serving(talk, here, writer, **SET) as client:
        result = await ask(client)
        assert len(writer.requests) == 1
        writer.scripts = [writing()]
        await ask(client, "Again?")
    assert result["status"] == "completed"
    assert [why in notice for notice in notices(result, "could not be summarised")] == [True]
    assert "left out here" in texts(here.requests[0])
    assert "They counted words." in texts(here.requests[1])
    assert len(writer.requests) == 2


async def test_one_that_is_too_long_is_asked_for_with_fewer_words_once_and_its_cost_counts(talk: Home) -> None:
    here, writer = ollama(), openai(writing("words " * 900), writing("words " * 900, is_cut=True))
    async with serving(talk, here, writer, **SET) as client:
        result = await ask(client)
    first, second = (int(texts(request).split("at most ")[1].split()[0]) for request in writer.requests)
    assert second == first // 2
    assert notices(result, "it was too long")
    (kept,) = talk.only()["summaries"]
    assert kept == IsPartialDict(content="", usage=IsPartialDict(costUsd=1.0), error=IsPartialDict(code=IsStr))
    assert total_cost(talk.only()) == 1.25
    assert "left out here" in texts(here.requests[0])


async def test_a_request_that_the_writer_finds_too_large_is_made_smaller_once(talk: Home) -> None:
    writer = openai(failing(ContextTooLargeError("openai")), writing("One."), writing("Two."), writing("All."))
    here = ollama()
    async with serving(talk, here, writer, **SET) as client:
        await ask(client)
    assert len(texts(writer.requests[1])) < 0.8 * len(texts(writer.requests[0]))
    assert "One." in texts(writer.requests[2])
    assert talk.only()["summaries"][-1]["content"] in texts(here.requests[0])


async def test_who_writes_is_in_the_file_before_the_words_are_sent_and_a_stop_ends_it(talk: Home) -> None:
    asked = anyio.Event()
    here, writer = ollama(), openai(endless(asked))
    async with open_app(settings_for(talk, **SET), providers=[here, writer]) as app:
        running = await app.turns.follow_up(ID, NEXT, Caller(0))
        await asked.wait()
        pending = talk.only()["pendingTurn"]
        assert pending == IsPartialDict(question="And now?", sentTo={"ollama": "this machine", "openai": "outside"})
        await app.watch.stop(running.conversation_id)
    left = talk.only()["pendingTurn"]
    assert left == IsPartialDict(status="failed", error=IsPartialDict(code="CANCELLED"))
    assert left["sentTo"]["openai"] == "outside"
    assert here.requests == []
    assert writer.cancelled == ["resp_summary"]


async def test_a_server_that_ends_meanwhile_leaves_the_question_and_the_next_one_asks_for_a_summary_again(
    talk: Home,
) -> None:
    asked = anyio.Event()
    here, writer = ollama(), openai(endless(asked))
    settings = settings_for(talk, **SET, ending_grace_seconds=0)
    async with open_app(settings, providers=[here, writer]) as app:
        await app.turns.follow_up(ID, NEXT, Caller(0))
        await asked.wait()
    assert talk.only()["pendingTurn"] == IsPartialDict(status="interrupted", sentTo=IsPartialDict(openai="outside"))
    assert here.requests == []
    again = openai(writing())
    async with serving(talk, here, again, **SET) as client:
        await ask(client, "Still there?")
    assert len(again.requests) == 1
    assert "They counted words." in texts(here.requests[0])
    assert [turn["question"] for turn in talk.only()["unansweredTurns"]] == ["And now?"]


async def test_the_setting_lets_words_of_this_machine_go_to_the_writer_that_it_names(talk: Home) -> None:
    async with serving(talk, ollama(), openai(writing()), **SET) as client:
        result = await ask(client)
    assert notices(result, "which only ollama on this machine had until now")
    assert talk.only()["messages"][-1]["sentTo"] == {"ollama": "this machine", "openai": "outside"}


async def test_auto_takes_words_of_this_machine_to_nobody_outside(talk: Home) -> None:
    here, writer = ollama(), openai()
    async with serving(talk, here, writer, tools=TOOLS, summaries="auto") as client:
        here.scripts = [writing()]
        await ask(client)
    assert writer.requests == []
    assert talk.only()["summaries"][0]["provider"] == "ollama"
    assert talk.only()["messages"][-1]["sentTo"] == {"ollama": "this machine"}


async def test_a_writer_that_cannot_be_reached_is_no_recipient(talk: Home) -> None:
    error = ProviderUnavailableError("openai cannot be reached.")
    async with serving(talk, ollama(), openai(failing(error)), **SET) as client:
        result = await ask(client)
    had = talk.only()["messages"][-1]["sentTo"]
    assert ("openai" in had) is error.was_sent
    assert notices(result, "cannot be reached")


async def test_a_message_that_is_too_long_for_the_writer_is_not_begun(home: Home) -> None:
    home.put(long_talk(2, words=40_000))
    here, small = ollama(), ollama(writing(), name="lmstudio")
    async with serving(home, here, small, tools=TOOLS, summaries="lmstudio:small") as client:
        result = await ask(client, model="ollama:medium")
    assert small.requests == []
    assert notices(result, "message 2 takes more than 8 requests")


async def test_another_process_can_stop_it(talk: Home) -> None:
    asked = anyio.Event()
    here, writer = ollama(), openai(endless(asked))
    settings = settings_for(talk, **SET)
    async with (
        open_app(settings, providers=[here, writer]) as one,
        open_app(settings, providers=[ollama(), openai()]) as two,
    ):
        running = await one.turns.follow_up(ID, NEXT, Caller(0))
        await asked.wait()
        await two.watch.stop(running.conversation_id)
    assert talk.only()["pendingTurn"] == IsPartialDict(status="failed", error=IsPartialDict(code="CANCELLED"))
    assert here.requests == []


async def test_after_a_kill_the_next_question_asks_for_the_summary_and_only_once(home: Home) -> None:
    killed = {
        "question": "And now?",
        "tool": "chat",
        "provider": "ollama",
        "model": SMALL,
        "status": "running",
        "startedAt": "2026-01-31T00:00:01.000Z",
        "sentTo": {"ollama": "this machine", "openai": "outside"},
    }
    home.put(long_talk(pendingTurn=killed))
    here, writer = ollama(), openai(failing(ProviderUnavailableError("openai is down.")), writing())
    async with serving(home, here, writer, **SET) as client:
        await ask(client, "Still there?")
        assert (len(writer.requests), len(here.requests)) == (1, 1)
        await ask(client, "Now?")
    assert (len(writer.requests), len(here.requests)) == (2, 2)
    assert home.only()["unansweredTurns"][0]["sentTo"]["openai"] == "outside"
