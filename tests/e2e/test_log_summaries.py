"""Summaries of a chatbot's log that somebody asks for: written once, kept, and returned by `recent`."""

from typing import Any

import anyio
from dirty_equals import IsPartialDict, IsStr
from tests.fixtures.homes import Home
from tests.fixtures.logged import LOG, Chatbot, texts_of
from tests.fixtures.serving import serving
from tests.fixtures.summaries import WRITER, endless, ollama, openai, texts, writing

SET: dict[str, Any] = {"tools": LOG, "summaries": WRITER}
SUMMARIZE = "summarize_conversation"
SAID = tuple(f"text {number}: " + "word " * 200 for number in range(1, 11))


async def test_what_recent_leaves_out_is_summarized_once_and_stands_for_it(home: Home) -> None:
    writer = openai(writing())
    async with serving(home, writer, **SET) as client:
        ann = Chatbot(client, "local")
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], *SAID)
        before = await ann("recent", **there, maxTokens=1_200)
        first = await ann(SUMMARIZE, **there, maxTokens=1_200)
        again = await ann(SUMMARIZE, **there, maxTokens=1_200)
        after = await ann("recent", **there, maxTokens=1_200)
    [request] = writer.requests
    covered = first["summarizedCount"]
    [kept] = home.only()["summaries"]
    assert kept == IsPartialDict(content="They counted words.", firstMessage=1, lastMessage=covered)
    assert first == IsPartialDict(
        status="summarized", summary="They counted words.", totalCount=10, modelUsed=IsStr, usage=IsPartialDict(costUsd=0.5)
    )  # fmt: skip
    assert all(f"text {number}:" in texts(request) for number in range(1, covered + 1))
    assert f"text {covered + 1}:" not in texts(request)
    assert again == {name: value for name, value in first.items() if name != "notices"} | {"status": "unchanged"}
    assert before["leftOutCount"] > 0
    assert (after["summary"], after["summarizedCount"], after["leftOutCount"]) == ("They counted words.", covered, 0)
    assert texts_of(after) == list(SAID[covered:])


async def test_without_a_limit_all_but_the_newest_turn_is_covered_and_more_is_added_later(home: Home) -> None:
    writer = openai(writing("Early words."), writing("All words."))
    async with serving(home, writer, **SET) as client:
        ann = Chatbot(client, "local")
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], *SAID[:6])
        assert (await ann(SUMMARIZE, **there))["summarizedCount"] == 4
        await ann.says(there["conversationId"], *SAID[6:])
        later = await ann(SUMMARIZE, **there)
    assert (later["summary"], later["summarizedCount"]) == ("All words.", 8)
    assert "Early words." in texts(writer.requests[1])
    assert "text 1:" not in texts(writer.requests[1])


async def test_where_everything_fits_nobody_is_asked(home: Home) -> None:
    writer = openai(writing())
    async with serving(home, writer, **SET) as client:
        ann = Chatbot(client, "local")
        there = {"conversationId": await ann.created()}
        empty = await ann(SUMMARIZE, **there)
        await ann.says(there["conversationId"], *SAID)
        fitting = await ann(SUMMARIZE, **there, maxTokens=100_000)
    assert writer.requests == []
    assert empty == IsPartialDict(status="unchanged", summarizedCount=0)
    assert fitting["notices"] == ["all messages fit; there is nothing to summarize"]


async def test_without_the_setting_the_error_names_it(home: Home) -> None:
    async with serving(home, openai(), tools=LOG) as client:
        ann = Chatbot(client, "local")
        error = await ann.refused(SUMMARIZE, conversationId=await ann.created())
    assert error["code"] == "VALIDATION_ERROR"
    assert "CONVERSATION_MCP_SUMMARIES names no model" in error["message"]


async def test_two_calls_at_once_pay_once_and_the_file_names_who_got_the_words_first(home: Home) -> None:
    asked, results = anyio.Event(), list[dict[str, Any]]()
    writer = openai(endless(asked))
    async with serving(home, writer, **SET, answer_wait_seconds=0.01) as client:
        ann = Chatbot(client, "local")
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], *SAID)
        for _ in range(2):
            results.append(await ann(SUMMARIZE, **there))
        await asked.wait()
        [begun] = home.only()["summaries"]
    assert [result["status"] for result in results] == ["running", "running"]
    assert len(writer.requests) == 1
    assert (begun["content"], begun["sentTo"]) == ("", {"openai": "outside"})


async def test_the_daily_limit_holds_and_the_cost_counts(home: Home) -> None:
    writer = openai(writing(), writing())
    async with serving(home, writer, **SET, max_cost_usd_per_day=0.4) as client:
        ann = Chatbot(client, "local")
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], *SAID[:6])
        await ann(SUMMARIZE, **there)
        await ann.says(there["conversationId"], *SAID[6:])
        error = await ann.refused(SUMMARIZE, **there)
    assert len(writer.requests) == 1
    assert error["code"] == "BUDGET_REACHED"


async def test_what_failed_is_an_error_whose_charge_is_kept(home: Home) -> None:
    writer = openai(writing(""))
    async with serving(home, writer, **SET) as client:
        ann = Chatbot(client, "local")
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], *SAID)
        error = await ann.refused(SUMMARIZE, **there)
        recent = await ann("recent", **there, maxTokens=1_200)
    [failed] = home.only()["summaries"]
    assert "no usable text came" in error["message"]
    assert (failed["content"], failed["usage"]["costUsd"]) == ("", 0.5)
    assert "summary" not in recent


async def test_with_auto_words_that_were_only_here_stay_here(home: Home) -> None:
    here, writer = ollama(), openai(writing())
    async with serving(home, here, writer, tools=(*LOG, "models"), summaries="auto") as client:
        ann = Chatbot(client, "local")
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], *SAID)
        await client.call_tool("chat", {**there, "prompt": "Why?", "model": "ollama:large"})
        done = await ann(SUMMARIZE, **there)
    assert writer.requests == []
    assert done["status"] == "summarized"
    assert home.only()["summaries"][0]["sentTo"] == {"ollama": "this machine"}
