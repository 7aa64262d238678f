"""Who gets the words for a summary, and what is spent on it, where the model that is asked is outside, too."""

from typing import Any

import anyio
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.providers import failing
from tests.fixtures.serving import serving, settings_for
from tests.fixtures.summaries import LARGE, WRITER, ask, endless, fine, long_talk, ollama, openai, texts, writing

from conversation_mcp.bootstrap import open_app
from conversation_mcp.errors import ProviderUnreachableError
from conversation_mcp.turns.ask import Ask, Caller

TOOLS = ("research", "models")
NARROW: dict[str, Any] = {WRITER: {"context": 4_096}}


async def test_a_model_that_was_not_asked_after_all_is_no_recipient(home: Home) -> None:
    home.put(long_talk())
    asked = anyio.Event()
    here, outside = ollama(endless(asked)), openai()
    settings = settings_for(home, tools=TOOLS, summaries=LARGE, models=NARROW)
    async with open_app(settings, providers=[here, outside]) as app:
        running = await app.turns.follow_up(ID, Ask("chat", "chat", "And now?", "", model=WRITER), Caller(0))
        await asked.wait()
        await app.watch.stop(running.conversation_id)
    assert outside.requests == []
    assert home.only()["pendingTurn"]["sentTo"] == {"ollama": "this machine"}


async def test_auto_has_the_model_that_is_asked_anyway_write_rather_than_somebody_new(home: Home) -> None:
    home.put(long_talk())
    outside, other = openai(writing("One."), writing("Two."), fine), FakeModels(name="xai")
    settings: dict[str, Any] = {"summaries": "auto", "models": NARROW, "preferred_models": ("xai:grok-4.5",)}
    async with serving(home, outside, other, tools=TOOLS, **settings) as client:
        await ask(client, model=WRITER)
    assert other.requests == []
    assert {summary["provider"] for summary in home.only()["summaries"]} == {"openai"}
    assert home.only()["messages"][-1]["sentTo"] == {"openai": "outside"}


async def test_a_writer_that_took_nothing_is_no_recipient(home: Home) -> None:
    home.put(long_talk())
    outside = openai(failing(ProviderUnreachableError("openai cannot be reached.")))
    async with serving(home, ollama(), outside, tools=TOOLS, summaries=WRITER) as client:
        await ask(client)
    assert home.only()["messages"][-1]["sentTo"] == {"ollama": "this machine"}


async def test_no_round_is_begun_once_the_days_limit_is_reached(home: Home) -> None:
    home.put(long_talk(8))
    here, small = ollama(), ollama(*(writing(f"Part {number}.") for number in range(9)), name="lmstudio")
    limit: dict[str, Any] = {"summaries": "lmstudio:small", "max_cost_usd_per_day": 0.5}
    async with serving(home, here, small, tools=TOOLS, **limit) as client:
        result = await ask(client)
    assert len(small.requests) == 1
    assert any("limit" in notice and "could not be summarised" in notice for notice in result["notices"])
    assert "Part 0." in texts(here.requests[0])
    assert "left out here" in texts(here.requests[0])
