"""The log of a chatbot, through the client: what is stored, what comes back, and what is refused."""

from typing import Any

import pytest
from dirty_equals import IsPartialDict, IsStr
from tests.fixtures.homes import Home
from tests.fixtures.logged import LOG, Chatbot, contents, texts_of
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving
from tests.fixtures.stores import UNKNOWN

ID = IsStr(regex=r"[0-9]{8}-[0-9]{13}")
TIME = IsStr(regex=r"[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z")


async def test_a_conversation_is_created_and_each_message_is_stored_with_an_id(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        ann = Chatbot(client)
        made = await ann("create_conversation", title="Trees", metadata={"channel": "web"})
        assert made == {"conversationId": ID, "userId": "ann", "status": "created", "createdAt": TIME, "title": "Trees"}
        there = {"conversationId": made["conversationId"]}
        first = await ann("store_message", **there, role="user", content="What is a trie?", metadata={"n": 1})
        assert first == {"messageId": "m-1", **there, "role": "user", "status": "stored", "createdAt": TIME}
        second = await ann("store_message", **there, role="assistant", content="A tree of prefixes.")
        assert second["messageId"] == "m-2"
        page = await ann("fetch_conversation_history", **there)
    assert page == {
        **there,
        "messages": [
            {"messageId": "m-1", "role": "user", "content": "What is a trie?", "createdAt": TIME, "metadata": {"n": 1}},
            {"messageId": "m-2", "role": "assistant", "content": "A tree of prefixes.", "createdAt": TIME},
        ],
        "offset": 0,
        "totalCount": 2,
        "hasMore": False,
    }


async def test_pages_begin_with_the_oldest_or_the_newest_message(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        assert texts_of(await ann("fetch_conversation_history", **there)) == []
        await ann.says(there["conversationId"], *"abcde")
        first = await ann("fetch_conversation_history", **there, limit=2)
        assert (texts_of(first), first["totalCount"], first["hasMore"]) == (["a", "b"], 5, True)
        last = await ann("fetch_conversation_history", **there, limit=2, offset=4)
        assert (texts_of(last), last["hasMore"]) == (["e"], False)
        newest = await ann("fetch_conversation_history", **there, limit=2, order="newest")
        assert (texts_of(newest), newest["hasMore"]) == (["e", "d"], True)
        assert texts_of(await ann("fetch_conversation_history", **there, offset=9)) == []


async def test_a_page_with_long_messages_is_shorter_and_says_that_there_are_more(home: Home) -> None:
    async with serving(home, tools=LOG, max_result_chars=1_000) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], "a" * 600, "b" * 600, "c" * 1_500)
        seen: list[str] = []
        while True:
            page = await ann("fetch_conversation_history", **there, offset=len(seen))
            seen += texts_of(page)
            if not page["hasMore"]:
                break
        assert seen == ["a" * 600, "b" * 600, "c" * 1_500]


async def test_the_same_client_id_again_stores_nothing_and_returns_the_first_result(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        hello: dict[str, Any] = {"role": "user", "content": "Hello", "clientMessageId": "c-1"}
        first = await ann("store_message", **there, **hello)
        await ann("store_message", **there, role="user", content="Are you there?")
        before = data_of(await client.call_tool("get_conversation_history", there))["updatedAt"]
        assert await ann("store_message", **there, **hello) == first
        assert data_of(await client.call_tool("get_conversation_history", there))["updatedAt"] == before
        both = [hello, {"role": "assistant", "content": "Yes", "clientMessageId": "c-2"}]
        again = await ann("store_messages", **there, messages=[*both, both[1]])
        assert [one["messageId"] for one in again["messages"]] == ["m-1", "m-3", "m-3"]
        other = await ann.refused("store_message", **there, **{**hello, "content": "Other"})
        assert other["message"].startswith("clientMessageId 'c-1' stands for another message already")
        page = await ann("fetch_conversation_history", **there)
        assert texts_of(page) == ["Hello", "Are you there?", "Yes"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"content": " \n"}, "content must not be blank"),
        ({"content": "x" * 11}, "content has 11 characters; at most 10 are accepted"),
        ({"role": "system"}, "role must be one of user, assistant"),
        ({"userId": " ann"}, "userId must be a name of 1 to 512 bytes"),
        ({"userId": "a\nb"}, "userId must be a name of 1 to 512 bytes"),
        ({"conversationId": "../../ann"}, "conversationId must look like"),
        ({"metadata": {"x": "y" * 10_001}}, "metadata takes up to 10,000 characters as JSON"),
        ({"clientMessageId": "c" * 201}, "clientMessageId"),
        ({"messageId": "m-7"}, "store_message has no argument 'messageId'"),
    ],
)
async def test_what_cannot_be_stored_is_refused_and_leaves_nothing(
    home: Home, wrong: dict[str, Any], told: str
) -> None:
    async with serving(home, tools=LOG, max_message_chars=10) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        refused = await ann.refused("store_message", **{**there, "role": "user", "content": "Hello", **wrong})
        assert refused["code"] == "VALIDATION_ERROR"
        assert told in refused["message"]
        assert (await ann("fetch_conversation_history", **there))["totalCount"] == 0


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([], "messages must be a list of 1 to 500 messages"),
        ("hello", "messages must be a list of 1 to 500 messages"),
        ([{"role": "user", "content": "a"}, {"role": "user"}], "in message 2, content: "),
        ([{"role": "user", "content": "a", "x": 1}], "in message 1, x: "),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": ""}], "messages[1].content must not be blank"),
    ],
)
async def test_of_a_list_with_a_wrong_message_nothing_is_stored(home: Home, messages: object, told: str) -> None:
    async with serving(home, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        assert told in (await ann.refused("store_messages", **there, messages=messages))["message"]
        assert (await ann("fetch_conversation_history", **there))["totalCount"] == 0


async def test_limits_count_messages_and_conversations_of_each_user(home: Home) -> None:
    limits: dict[str, Any] = {"max_messages_per_minute": 3, "max_conversations_per_minute": 2}
    async with serving(home, tools=LOG, **limits) as client:
        ann, bob = Chatbot(client, "ann"), Chatbot(client, "bob")
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], "a", "b", "c")
        refused = await ann.refused("store_message", **there, role="user", content="d")
        assert refused == IsPartialDict(code="RATE_LIMITED", retryable=True)
        assert 0 < refused["retryAfterSeconds"] <= 20
        await bob.says(await bob.created(), "a", "b", "c")
        await ann.created()
        assert (await ann.refused("create_conversation"))["code"] == "RATE_LIMITED"
        assert texts_of(await ann("fetch_conversation_history", **there)) == ["a", "b", "c"]


async def test_recent_returns_the_newest_whole_turns_that_fit(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], "one", "two", "three", "four")
        await ann("store_message", **there, role="user", content="five")
        await ann("store_message", **there, role="user", content="six")
        everything = await ann("recent", **there, maxTokens=1_000)
        assert texts_of(everything) == ["one", "two", "three", "four", "five", "six"]
        assert everything["leftOutCount"] == 0
        some = await ann("recent", **there, maxTokens=everything["estimatedTokens"] - 1)
        assert texts_of(some) == ["three", "four", "five", "six"]
        assert (some["leftOutCount"], some["totalCount"]) == (2, 6)
        assert texts_of(await ann("recent", **there, maxTokens=some["estimatedTokens"] - 1)) == ["five", "six"]
        assert texts_of(await ann("recent", **there, maxTokens=5)) == []


async def test_a_logged_conversation_is_followed_up_and_what_stands_unanswered_is_sent_in_place(home: Home) -> None:
    provider = FakeProvider()
    async with serving(home, provider, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], "What is a trie?", "A tree.", "Who made it?")
        asked = data_of(await client.call_tool("search_followup", {**there, "query": "And when?"}))
        sent = [(one.role, one.content) for one in provider.requests[0].messages]
        history = [("user", "What is a trie?"), ("assistant", "A tree."), ("user", "Who made it?")]
        assert sent == [*history, ("user", "And when?")]
        await ann("store_message", **there, role="user", content="Thanks.")
        await client.call_tool("search_followup", {**there, "query": "Why?"})
        assert [one.content for one in provider.requests[1].messages][:4] == [content for _, content in sent]
        assert [one.content for one in provider.requests[1].messages][5:] == ["Thanks.", "Why?"]
        page = await ann("fetch_conversation_history", **there)
    assert [one["messageId"] for one in page["messages"]] == [f"m-{number}" for number in range(1, 9)]
    assert texts_of(page)[3:5] == ["And when?", asked["rawResultText"]]


async def test_a_researched_conversation_takes_messages_of_the_log(home: Home) -> None:
    async with serving(home, FakeProvider(), tools=LOG) as client:
        local = Chatbot(client, "local")
        started = data_of(await client.call_tool("search", {"query": "What is a trie?"}))
        there = {"conversationId": started["conversationId"]}
        stored = await local("store_message", **there, role="user", content="Thanks.")
        assert stored["messageId"] == "m-4"
        page = await local("fetch_conversation_history", **there)
        assert [one["messageId"] for one in page["messages"]] == ["m-2", "m-3", "m-4"]
        found = data_of(await client.call_tool("list_conversations", {"query": "thanks"}))
        assert [one["conversationId"] for one in found["conversations"]] == [there["conversationId"]]


async def test_an_archived_conversation_is_in_lists_again_once_something_is_logged(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        local = Chatbot(client, "local")
        there = {"conversationId": await local.created()}
        await local("update_conversation", **there, archived=True)
        await local.says(there["conversationId"], "Hello")
        found = data_of(await client.call_tool("list_conversations", {}))
        assert contents([{"content": one["title"]} for one in found["conversations"]]) == ["Hello"]


async def test_an_unknown_conversation_is_not_found_by_any_tool(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": UNKNOWN}
        calls: dict[str, dict[str, Any]] = {
            "store_message": {"role": "user", "content": "x"},
            "store_messages": {"messages": [{"role": "user", "content": "x"}]},
            "fetch_conversation_history": {},
            "recent": {"maxTokens": 10},
            "update_conversation": {"title": "x"},
        }
        for tool, arguments in calls.items():
            assert (await ann.refused(tool, **there, **arguments))["code"] == "CONVERSATION_NOT_FOUND", tool


async def test_a_completed_conversation_takes_no_more_messages_until_it_is_taken_up_again(home: Home) -> None:
    async with serving(home, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        await ann.says(there["conversationId"], "one")
        ended = await ann("end_conversation", **there, summary="Done.")
        assert ended["status"] == "completed"
        refused = await client.call_tool("store_message", {"userId": "ann", **there, "role": "user", "content": "two"})
        assert error_of(refused)["code"] == "CONVERSATION_CLOSED"
        assert texts_of(await ann("fetch_conversation_history", **there)) == ["one"]
        await ann("update_conversation", **there, archived=False)
        assert (await ann("store_message", **there, role="user", content="two"))["status"] == "stored"
