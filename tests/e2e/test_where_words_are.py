"""What has been where: after a failure, an import, a merge, and in files that say odd things about it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.folders import only_conversation
from tests.fixtures.outside import (
    DIAGNOSIS,
    LARGE,
    LATER,
    NOBODY,
    SOL,
    Outside,
    in_it,
    notices,
    opened,
    private,
    put_chat,
)
from tests.fixtures.responses_server import ResponsesServer
from tests.fixtures.serving import data_of, error_of

FREE = f"{DIAGNOSIS} [[fault:401]]"
"""A question that is refused before anything is billed."""


@pytest.fixture
def there() -> Iterator[Outside]:
    with LoopbackAgent() as agent, ResponsesServer("openai") as openai, ChatServer("custom") as custom:
        yield Outside(agent, openai, custom)


async def test_a_failed_question_counts_as_having_left_where_it_was_sent(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there) as client:
        first = await private(client)
        failed = await client.call_tool("chat", {**in_it(first), "prompt": "two? [[fault:401]]", "model": SOL})
        assert only_conversation(tmp_path)["pendingTurn"]["sentTo"] == {"openai": "outside"}
        again = await client.call_tool("chat", {**in_it(first), "prompt": "three?", "model": SOL})
    assert error_of(failed)["code"] == "PROVIDER_AUTH"
    assert notices(again) == [LATER.format("openai")]


async def test_a_question_that_found_no_connection_has_not_left(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there, openai_base_url=NOBODY) as client:
        first = await private(client)
        failed = await client.call_tool("chat", {**in_it(first), "prompt": "two?", "model": SOL})
        assert only_conversation(tmp_path)["pendingTurn"]["sentTo"] == {}
        error = error_of(await client.call_tool("search_followup", {**in_it(first), "query": "three?"}))
    assert error_of(failed)["code"] == "PROVIDER_UNAVAILABLE"
    assert (error["code"], there.got()) == ("FORBIDDEN", ["custom"])


async def test_after_a_failed_first_question_the_next_one_goes_to_whom_it_was_meant_for(
    tmp_path: Path, there: Outside
) -> None:
    async with opened(tmp_path, there) as client:
        error = error_of(await client.call_tool("chat", {"prompt": FREE, "model": LARGE}))
        again = data_of(
            await client.call_tool("chat", {"conversationId": error["conversationId"], "prompt": DIAGNOSIS})
        )
    assert (again["provider"], there.got()) == ("custom", ["custom"])


@pytest.mark.parametrize(
    ("imported", "expected"),
    [
        ("chatgpt", "perplexity gets this conversation for the first time (2 messages); chatgpt has it already"),
        ("perplexity-mcp-server", None),
        ("llm", "FORBIDDEN"),
        (None, None),
    ],
)
async def test_words_of_an_import_have_been_where_its_answers_were_given(
    tmp_path: Path, there: Outside, imported: str | None, expected: str | None
) -> None:
    conversation_id = "20260131-1769817600000"
    path = tmp_path / "conversation-logs" / conversation_id / "conversation.json"
    path.parent.mkdir(parents=True)
    messages = [{"role": "user", "content": "one?"}, {"role": "assistant", "content": "1"}]
    origin = {"imported": {"from": imported, "id": "x"}} if imported else {}
    moment = "2026-01-31T00:00:00.000Z"
    facts = {"conversationId": conversation_id, "createdAt": moment, "updatedAt": moment, "messageCount": 2}
    path.write_text(json.dumps({**facts, **origin, "messages": messages}), encoding="utf-8")
    async with opened(tmp_path, there) as client:
        branch = data_of(
            await client.call_tool("branch_conversation", {"conversationId": conversation_id, "messageNumber": 2})
        )
        for one in (conversation_id, branch["conversationId"]):
            result = await client.call_tool("search_followup", {"conversationId": one, "query": "two?"})
            if expected == "FORBIDDEN":
                assert error_of(result)["code"] == expected
            else:
                assert notices(result) == ([expected] if expected else [])
    assert len(there.perplexity.requests) == (0 if expected == "FORBIDDEN" else 2)


async def merged_with(client: Client, *results: dict[str, Any]) -> dict[str, Any]:
    ids = [result["conversationId"] for result in results]
    return data_of(await client.call_tool("merge_conversations", {"conversationIds": ids}))


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("is_branched", [True, False])
@pytest.mark.parametrize("is_twice", [True, False])
async def test_what_never_left_stays_in_a_merge_with_what_did(
    tmp_path: Path, there: Outside, *, is_first: bool, is_branched: bool, is_twice: bool
) -> None:
    async with opened(tmp_path, there, fallback_models=[SOL]) as client:
        here = await private(client)
        public = data_of(await client.call_tool("search", {"query": "one?"}))
        merge = await merged_with(client, *((here, public) if is_first else (public, here)))
        if is_twice:
            other = data_of(await client.call_tool("search", {"query": "another?"}))
            merge = await merged_with(client, merge, other)
        if is_branched:
            count = 7 if is_twice else 5
            merge = data_of(await client.call_tool("branch_conversation", {**in_it(merge), "messageNumber": count}))
        for tool in ("search_followup", "deep_research_followup"):
            error = error_of(await client.call_tool(tool, {**in_it(merge), "query": "What is it?"}))
            assert error["code"] == "FORBIDDEN"
            assert error["message"].startswith("a part of this conversation, which only custom on this machine had")
        assert there.got() == ["custom"]
        named = await client.call_tool("search_followup", {**in_it(merge), "query": "It?", "model": "perplexity"})
        again = await client.call_tool("search_followup", {**in_it(merge), "query": "And then?"})
    assert notices(named)[0].startswith("perplexity gets a part of this conversation, which only custom on this")
    assert (notices(again), there.got()) == ([], ["perplexity", "custom"])


async def test_a_merge_of_what_two_outside_have_tells_who_gets_the_rest(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        second = data_of(await client.call_tool("chat", {"prompt": "two?", "model": SOL}))
        merge = await merged_with(client, first, second)
        third = await client.call_tool("chat", {**in_it(merge), "prompt": "three?"})
        fourth = await client.call_tool("chat", {**in_it(merge), "prompt": "four?"})
    gets = "openai gets 1 question of this conversation, with what was answered, for the first time"
    assert notices(third) == [f"{gets}; perplexity has it already"]
    assert notices(fourth) == []


async def test_a_merge_of_what_is_here_stays_here_and_names_nobody_more(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there) as client:
        merge = await merged_with(client, await private(client), await private(client, "Mine is Y."))
        error = error_of(await client.call_tool("search_followup", {**in_it(merge), "query": "It?"}))
        more = data_of(await client.call_tool("chat", {**in_it(merge), "prompt": "More?"}))
    assert error["message"].startswith("this conversation, which only custom on this machine had")
    assert (more["provider"], there.got()) == ("custom", ["custom"])


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({}, "FORBIDDEN"),
        ({"sentTo": {}}, "FORBIDDEN"),
        ({"sentTo": {"custom": "this machine"}}, "FORBIDDEN"),
        ({"sentTo": {"custom": "somewhere"}}, "FORBIDDEN"),
        ({"sentTo": {"custom": "Outside"}}, "FORBIDDEN"),
        ({"sentTo": {"perplexity": "this machine"}}, "FORBIDDEN"),
        ({"sentTo": {"custom": 1}}, "CONVERSATION_CORRUPTED"),
        ({"sentTo": "perplexity"}, "CONVERSATION_CORRUPTED"),
        ({"sentTo": [{"perplexity": "outside"}]}, "CONVERSATION_CORRUPTED"),
    ],
)
async def test_odd_words_about_who_got_an_answer_send_nothing_away(
    tmp_path: Path, there: Outside, facts: dict[str, Any], code: str
) -> None:
    conversation_id = put_chat(tmp_path, **facts)
    async with opened(tmp_path, there) as client:
        for tool in ("search_followup", "deep_research_followup"):
            error = error_of(await client.call_tool(tool, {"conversationId": conversation_id, "query": "It?"}))
            assert error["code"] == code
    assert there.calls == (0, 0, 0)
