"""Summaries instead of holes: what falls out of a request is summarised once, kept, shown, and sent in its place."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict, IsStr
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home
from tests.fixtures.models import FakePerplexity
from tests.fixtures.serving import data_of, serving, text_of
from tests.fixtures.summaries import LARGE, SMALL, WRITER, ask, long_talk, ollama, openai, texts, writing

from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import turns_of
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.records.costs import total_cost
from conversation_mcp.turns.ask import Ask

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


async def test_what_falls_out_is_summarised_kept_with_its_facts_and_sent_in_its_place(talk: Home) -> None:
    here, writer = ollama(), openai(writing())
    async with serving(talk, here, writer, **SET) as client:
        result = await ask(client)
    (request,), (summarising,) = here.requests, writer.requests
    (summary,) = talk.only()["summaries"]
    last = summary["lastMessage"]
    assert summary == {
        "content": "They counted words.",
        "firstMessage": 2,
        "lastMessage": last,
        "createdAt": IsStr,
        "provider": "openai",
        "model": IsStr,
        "sentTo": {"openai": "outside"},
        "usage": {"inputTokens": 100, "outputTokens": 5, "costUsd": 0.5},
    }
    assert "They counted words." in texts(request)
    assert "left out here" not in texts(request)
    first = (last + 1) // 2
    assert f"question {first}:" in texts(request)
    assert f"question {first - 1}:" not in texts(request)
    assert all(f"question {number}:" in texts(summarising) for number in range(1, first))
    assert f"question {first}:" not in texts(summarising)
    (told,) = notices(result, "summarised by")
    assert told.startswith(f"messages 2 to {last} were summarised by ")
    assert "$0.50" in told
    assert notices(result, "a summary stands for")


async def test_it_is_made_once_and_the_requests_after_it_begin_alike(talk: Home) -> None:
    here, writer = ollama(), openai(writing())
    async with serving(talk, here, writer, **SET) as client:
        for prompt in ("one?", "two?", "three?"):
            await ask(client, prompt)
    assert len(writer.requests) == 1
    sent = [[(one.role, one.content) for one in request.messages] for request in here.requests]
    for former, later in pairwise(sent):
        assert later[: len(former)] == former


async def test_a_summary_takes_the_one_before_it_in_and_changes_requests_only_where_the_selection_steps(
    talk: Home,
) -> None:
    here, writer = ollama(), openai(*(writing(f"Part {number}.") for number in range(9)))
    async with serving(talk, here, writer, **SET) as client:
        for number in range(10):
            await ask(client, f"more {number}: " + "word " * 150)
    kept = talk.only()["summaries"]
    assert 1 < len(kept) == len(writer.requests) < 5
    assert [one["content"] for one in kept] == [f"Part {number}." for number in range(len(kept))]
    assert {one["firstMessage"] for one in kept} == {2}
    for known, request in zip(kept, writer.requests[1:], strict=False):
        assert known["content"] in texts(request)
        assert "question 1:" not in texts(request)
    assert kept[-1]["content"] in texts(here.requests[-1])
    assert kept[-2]["content"] not in texts(here.requests[-1])
    sent = [[one.content for one in request.messages] for request in here.requests]
    assert [later[: len(former)] == former for former, later in pairwise(sent)].count(False) == len(kept) - 1


async def test_the_cost_counts_once_in_the_conversation_in_statistics_and_for_the_days_limit(talk: Home) -> None:
    async with serving(talk, ollama(), openai(writing()), **SET, max_cost_usd_per_day=0.6) as client:
        await ask(client)
        branch = data_of(await client.call_tool("branch_conversation", {"conversationId": ID, "messageNumber": 13}))
        refused = await client.call_tool("chat", {"conversationId": ID, "prompt": "More?", "model": SMALL})
    stored, copy = talk.stored(ID), talk.stored(branch["conversationId"])
    assert total_cost(stored) == 0.75  # 0.5 of it for the summary
    turns = [turn for turn in turns_of(stored, PRICES) if turn.provider == "openai"]
    assert [(turn.cost_usd, turn.is_answered) for turn in turns] == [(0.5, None)]
    assert copy["summaries"][0]["content"] == "They counted words."
    assert total_cost(copy) is None
    assert refused.is_error
    assert "BUDGET" in text_of(refused)


async def test_a_writer_with_a_small_window_is_asked_in_rounds_that_are_each_kept(home: Home) -> None:
    home.put(long_talk(8))
    here = ollama()
    small = ollama(*(writing(f"Part {number}.") for number in range(9)), name="lmstudio")
    async with serving(home, here, small, tools=TOOLS, summaries="lmstudio:small") as client:
        await ask(client)
    kept = home.only()["summaries"]
    assert len(kept) == len(small.requests) > 1
    assert [one["lastMessage"] for one in kept] == sorted({one["lastMessage"] for one in kept})
    assert kept[-1]["content"] in texts(here.requests[0])
    assert "left out here" not in texts(here.requests[0])


async def test_files_of_what_falls_out_are_not_part_of_the_request_for_a_summary(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text("SECRET_SAUCE = 1\n")
    here, writer = ollama(), openai(writing())
    async with serving(home, here, writer, **SET, roots=(tmp_path,)) as client:
        opening = {"prompt": "first " + "word " * 600, "model": LARGE, "files": [str(path)]}
        same = {"conversationId": data_of(await client.call_tool("chat", opening))["conversationId"]}
        for number in range(4):
            await ask(client, f"question {number} " + "word " * 600, model=LARGE, **same)
        await ask(client, **same)
    assert "SECRET_SAUCE" in texts(here.requests[0])
    (summarising,) = writer.requests
    assert "first word" in texts(summarising)
    assert "SECRET_SAUCE" not in texts(summarising)


async def test_what_falls_out_of_a_parent_is_summarised_in_the_file_of_the_parent(home: Home) -> None:
    home.put(long_talk(5, PARENT))
    here, writer = ollama(), openai(writing())
    async with serving(home, here, writer, **SET) as client:
        opening = {"prompt": "Go on?", "model": SMALL, "continueFrom": PARENT}
        child = data_of(await client.call_tool("chat", opening))["conversationId"]
    assert home.stored(PARENT)["summaries"][0]["content"] == "They counted words."
    assert "summaries" not in home.stored(child)
    assert "They counted words." in texts(here.requests[0])
    assert total_cost(home.stored(PARENT)) == 0.5
    assert total_cost(home.stored(child)) == 0.25
    assert home.stored(child)["messages"][-1]["sentTo"]["openai"] == "outside"


async def test_without_the_setting_and_where_everything_fits_nobody_writes(talk: Home) -> None:
    here, writer = ollama(), openai()
    async with serving(talk, here, writer, tools=TOOLS) as client:
        await ask(client)
    async with serving(talk, here, writer, **SET) as client:
        await ask(client, model=LARGE)
    assert writer.requests == []
    assert "summaries" not in talk.only()


async def test_it_is_shown_as_standing_for_its_messages(talk: Home) -> None:
    async with serving(talk, ollama(), openai(writing()), **SET) as client:
        await ask(client)
        last = talk.only()["summaries"][0]["lastMessage"]
        history = await client.call_tool("get_conversation_history", {"conversationId": ID, "offset": 0, "limit": 3})
        context = await client.call_tool("show_context", {"conversationId": ID})
        exported = [
            text_of(await client.call_tool("export_conversation", {"conversationId": ID, "format": kind}))
            for kind in ("markdown", "html")
        ]
    name = f"Summary of messages 2 to {last}"
    for page in (text_of(history), *exported):
        assert name in page
        assert page.index("They counted words.") < page.rindex("question 1:")
    assert data_of(history)["summary"] == IsPartialDict(firstMessage=2, lastMessage=last)
    assert f"summary in place of messages 2 to {last}" in text_of(context)
    assert data_of(context)["summaries"] == [IsPartialDict(firstMessage=2, lastMessage=last)]


async def test_a_prompt_of_the_users_own_is_used(talk: Home) -> None:
    folder = talk.folder / "prompts"
    folder.mkdir()
    (folder / "summary.md").write_text("Sum up in rhyme.\n")
    writer = openai(writing())
    async with serving(talk, ollama(), writer, **SET) as client:
        await ask(client)
    assert writer.requests[0].messages[0].content == "Sum up in rhyme."


async def test_a_summary_that_is_too_long_for_a_smaller_model_is_made_shorter(home: Home) -> None:
    long = {"content": "They spoke of milk. " * 100, "firstMessage": 2, "lastMessage": 7}
    home.put(long_talk(summaries=[long]))
    here, writer = ollama(), openai(writing())
    async with serving(home, here, writer, **SET) as client:
        await ask(client)
        await ask(client, "Again?")
    (request,) = writer.requests
    assert "They spoke of milk." in texts(request)
    assert "question 1:" not in texts(request)
    assert home.only()["summaries"][1] == IsPartialDict(firstMessage=2, lastMessage=7, content="They counted words.")
    assert all("They counted words." in texts(request) for request in here.requests)


async def test_a_search_whose_window_is_unknown_gets_everything_and_no_summary(home: Home) -> None:
    home.put(long_talk())
    perplexity, writer = FakePerplexity(), openai()
    async with serving(home, perplexity, writer, **SET, sharing="always") as client:
        await client.call_tool("search_followup", {"conversationId": ID, "query": "Is that so?"})
    assert "question 1:" in texts(perplexity.requests[0])
    assert writer.requests == []
