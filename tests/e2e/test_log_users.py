"""Whose the conversations of the log are, over stdio and over HTTP, and how other tools find them."""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.homes import Home
from tests.fixtures.logged import LOG, Chatbot, texts_of
from tests.fixtures.over_http import http_server
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving
from tests.fixtures.stores import UNKNOWN

CALLS: dict[str, dict[str, Any]] = {
    "store_message": {"role": "user", "content": "x"},
    "store_messages": {"messages": [{"role": "user", "content": "x"}]},
    "fetch_conversation_history": {},
    "recent": {"maxTokens": 10},
    "update_conversation": {"title": "x"},
}
"""The tools that name a conversation, with what they need beside it."""


@pytest.mark.parametrize("tool", CALLS)
async def test_on_stdio_the_conversation_of_another_user_is_forbidden(home: Home, tool: str) -> None:
    async with serving(home, tools=LOG) as client:
        ann, bob = Chatbot(client, "ann"), Chatbot(client, "bob")
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], "Hello")
        refused = await bob.refused(tool, **there, **CALLS[tool])
        assert refused["code"] == "FORBIDDEN"
        assert "another user than 'bob'" in refused["message"]
        assert texts_of(await ann("fetch_conversation_history", **there)) == ["Hello"]
        unknown = await bob.refused(tool, conversationId=UNKNOWN, **CALLS[tool])
        assert unknown["code"] == "CONVERSATION_NOT_FOUND"


async def test_users_whose_names_look_alike_have_conversations_of_their_own(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        made: dict[str, str] = {}
        for user in ("ann", "Ann", "ann.", "../ann", "änn", "local"):
            made[user] = await Chatbot(client, user).created()
            await Chatbot(client, user).says(made[user], user)
        assert len({*made.values()}) == len(made)
        for user, conversation_id in made.items():
            page = await Chatbot(client, user)("fetch_conversation_history", conversationId=conversation_id)
            assert texts_of(page) == [user]


async def test_ids_are_unique_over_all_users(home: Home) -> None:
    async with serving(home, tools=LOG, max_conversations_per_minute=1_000) as client:
        made = [await Chatbot(client, f"user {number % 7}").created() for number in range(50)]
    assert len({*made}) == 50


async def test_the_tools_for_research_find_the_conversation_of_a_user(home: Home) -> None:
    async with serving(home, FakeProvider(), tools=(*LOG, "manage")) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], "What is a trie?", "A tree.")
        await client.call_tool("search_followup", {**there, "query": "Who made it?"})
        shown = data_of(await client.call_tool("get_conversation_history", there))
        assert [one["role"] for one in shown["messages"]] == ["user", "assistant"] * 2
        branched = data_of(await client.call_tool("branch_conversation", {**there, "messageNumber": 2}))
        page = await ann("fetch_conversation_history", conversationId=branched["conversationId"])
        assert texts_of(page) == ["What is a trie?", "A tree."]
        assert home.ids() == []
        listed = data_of(await client.call_tool("list_conversations", {}))
        assert listed["conversations"] == []


async def test_without_the_log_the_conversations_of_users_are_out_of_reach(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        there = {"conversationId": await Chatbot(client).created()}
    async with serving(home, FakeProvider()) as client:
        refused = error_of(await client.call_tool("search_followup", {**there, "query": "Who?"}))
        assert refused["code"] == "CONVERSATION_NOT_FOUND"
        assert [tool.name for tool in (await client.list_tools()).tools if tool.name in CALLS] == []


async def test_a_tool_of_two_sets_is_listed_once_and_takes_the_user(home: Home) -> None:
    async with serving(home, tools=("manage", "log")) as client:
        listed = [tool for tool in (await client.list_tools()).tools if tool.name == "update_conversation"]
        assert len(listed) == 1
        assert "userId" in listed[0].input_schema["required"]


async def test_over_http_a_user_must_be_one_for_whom_the_caller_may_act(tmp_path: Path) -> None:
    async with http_server(tmp_path, tools=LOG) as server, server.client("app") as client:
        own, first, second = (Chatbot(client, user) for user in ("app", "app-1", "app-2"))
        there = {"conversationId": await first.created()}
        await first.says(there["conversationId"], "Hello")
        assert texts_of(await first("fetch_conversation_history", **there)) == ["Hello"]
        for other in (own, second):
            for tool, arguments in CALLS.items():
                assert (await other.refused(tool, **there, **arguments))["code"] == "FORBIDDEN"
        foreign = Chatbot(client, "bob")
        assert (await foreign.refused("create_conversation"))["code"] == "FORBIDDEN"
        async with server.client("bob") as bobs:
            bob = Chatbot(bobs, "bob")
            secret = {"conversationId": await bob.created()}
            for tool, arguments in CALLS.items():
                assert (await bob.refused(tool, **there, **arguments))["code"] == "CONVERSATION_NOT_FOUND"
                for one in (own, first, foreign):
                    refused = await one.refused(tool, **secret, **arguments)
                    unknown = await one.refused(tool, conversationId=UNKNOWN, **arguments)
                    assert refused["code"] == "CONVERSATION_NOT_FOUND"
                    assert refused["message"] == unknown["message"].replace(UNKNOWN, secret["conversationId"])
                    assert str(tmp_path) not in str(refused)


async def test_over_http_other_tools_stay_with_the_owner_of_the_token(tmp_path: Path) -> None:
    async with (
        http_server(tmp_path, FakeProvider(), tools=LOG) as server,
        server.client("app") as client,
        server.client("app-1") as users,
    ):
        there = {"conversationId": await Chatbot(client, "app-1").created()}
        named = {**there, "query": "Who?", "userId": "app-1"}
        assert error_of(await client.call_tool("search_followup", named))["code"] == "VALIDATION_ERROR"
        refused = error_of(await client.call_tool("search_followup", {**there, "query": "Who?"}))
        assert refused["code"] == "CONVERSATION_NOT_FOUND"
        asked = data_of(await users.call_tool("search_followup", {**there, "query": "Who?"}))
        assert asked["status"] == "completed"


async def test_over_http_a_body_that_says_two_users_gets_neither_of_the_wrong_one(tmp_path: Path) -> None:
    async with http_server(tmp_path, tools=LOG) as server, server.client("app-1") as client:
        there = await Chatbot(client, "app-1").created()
        body = (
            '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fetch_conversation_history", '
            f'"arguments": {{"conversationId": "{there}", "userId": "app-1", "user_id": "app-2"}}}}}}'
        )
        answer = await server.post("app", body.encode())
        assert "two spellings" in answer.text
        twice = body.replace('"user_id": "app-2"', '"userId": "bob"')
        assert "FORBIDDEN" in (await server.post("app", twice.encode())).text
