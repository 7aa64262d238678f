"""What stays on this machine and what may leave it: every way to go on, and what each provider then received."""

import json
import re
import shlex
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from dirty_equals import IsPartialDict, IsStr
from mcp import Client
from mcp.types import CallToolResult
from tests.fixtures.agent import KEY as AGENT_KEY
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.chat_rules import KEY
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.cli import piped
from tests.fixtures.documents import HANDBOOK, written
from tests.fixtures.folders import only_conversation
from tests.fixtures.responses_server import ResponsesServer
from tests.fixtures.serving import data_of, error_of, serving, text_of

DIAGNOSIS = "My diagnosis is X."
LARGE = "custom:large-1"
SOL = "openai:gpt-6-sol"
NOBODY = "http://127.0.0.1:9/v1"
ALL_TOOLS = ("research", "models", "manage")
HINT = re.compile(r"Follow up: (?P<tools>.+) with conversationId (?P<id>\S+?)(?: and model (?P<model>\S+))?\.")
LATER = (
    "{} has the beginning of this conversation and also gets its last answer, which only custom on this machine had "
    "until now"
)
FREE = f"{DIAGNOSIS} [[fault:401]]"
"""A question that is refused before anything is billed."""


@dataclass(frozen=True)
class Outside:
    """The providers that are outside of this machine by their names, and one that is on it."""

    perplexity: LoopbackAgent
    openai: ResponsesServer
    custom: ChatServer

    def settings(self) -> dict[str, Any]:
        return {
            "tools": ALL_TOOLS,
            "retries": 0,
            "perplexity_api_key": AGENT_KEY,
            "perplexity_base_url": self.perplexity.base_url,
            "openai_api_key": KEY,
            "openai_base_url": self.openai.base_url,
            "custom_api_key": KEY,
            "custom_base_url": self.custom.base_url,
        }

    def variables(self) -> dict[str, str]:
        return {
            "PERPLEXITY_API_KEY": AGENT_KEY,
            "PERPLEXITY_BASE_URL": self.perplexity.base_url,
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": self.openai.base_url,
            "CUSTOM_API_KEY": KEY,
            "CUSTOM_API_URL": self.custom.base_url,
        }

    def got(self, words: str = DIAGNOSIS) -> list[str]:
        """Return who received the words."""
        servers = {"perplexity": self.perplexity, "openai": self.openai, "custom": self.custom}
        return [name for name, server in servers.items() if words in json.dumps(server.requests)]

    @property
    def calls(self) -> tuple[int, int, int]:
        return len(self.perplexity.requests), len(self.openai.requests), len(self.custom.requests)


@pytest.fixture
def there() -> Iterator[Outside]:
    with LoopbackAgent() as agent, ResponsesServer("openai") as openai, ChatServer("custom") as custom:
        yield Outside(agent, openai, custom)


@asynccontextmanager
async def opened(folder: Path, there: Outside, **changes: Any) -> AsyncGenerator[Client]:
    async with serving(folder, **{**there.settings(), **changes}) as client:
        yield client


async def private(client: Client, words: str = DIAGNOSIS) -> dict[str, Any]:
    """Begin a conversation with a model of this machine, and return its result."""
    return data_of(await client.call_tool("chat", {"prompt": words, "model": LARGE}))


def in_it(result: dict[str, Any]) -> dict[str, str]:
    return {"conversationId": result["conversationId"]}


def recipients(folder: Path) -> list[dict[str, str]]:
    return [m["sentTo"] for m in only_conversation(folder)["messages"] if m["role"] == "assistant"]


def notices(result: CallToolResult) -> list[str]:
    return data_of(result).get("notices", [])


async def test_a_chat_with_a_model_of_this_machine_stays_with_it(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there) as client:
        first = await private(client)
        second = data_of(await client.call_tool("chat", {**in_it(first), "prompt": "And now?"}))
    assert (there.got(), second["provider"], second.get("notices")) == (["custom"], "custom", None)
    assert recipients(tmp_path) == [{"custom": "this machine"}] * 2


@pytest.mark.parametrize("tool", ["search_followup", "deep_research_followup"])
async def test_what_never_left_is_refused_to_who_was_not_named_before_anything_is_sent_or_written(
    tmp_path: Path, there: Outside, tool: str
) -> None:
    async with opened(tmp_path, there, custom_default_model="large-1") as client:
        first = await private(client)
        before = Path(first["conversationPath"]).read_bytes()
        error = error_of(await client.call_tool(tool, {**in_it(first), "query": "What is it?"}))
    assert error == {
        "code": "FORBIDDEN",
        "message": "this conversation, which only custom on this machine had until now (2 messages), would go to "
        "perplexity, which is outside of this machine. Nothing was sent. To send it there, name it on the call: model "
        "perplexity (--model perplexity); CONVERSATION_MCP_SHARING=always allows it for everything. "
        "To keep it here, name custom:large-1 and ask by chat (--chat).",
        "conversationId": first["conversationId"],
        "retryable": False,
    }
    assert there.calls == (0, 0, 1)
    assert Path(first["conversationPath"]).read_bytes() == before
    assert list((tmp_path / "conversation-logs" / ".calls").iterdir()) == []


@pytest.mark.parametrize("model", ["perplexity", "fast", "perplexity/sonar"])
async def test_whoever_is_named_gets_it_and_the_answer_and_the_file_say_so(
    tmp_path: Path, there: Outside, model: str
) -> None:
    async with opened(tmp_path, there) as client:
        first = await private(client)
        sent = await client.call_tool("search_followup", {**in_it(first), "query": "What is it?", "model": model})
        later = await client.call_tool("search_followup", {**in_it(first), "query": "And then?"})
    assert notices(sent)[0] == IsStr(
        regex=r"perplexity\S* gets this conversation, which only custom on this machine had until now: 2 messages"
    ) | IsStr(regex="fast gets this conversation.*")
    assert there.got() == ["perplexity", "custom"]
    assert recipients(tmp_path) == [{"custom": "this machine"}, *[{"perplexity": "outside"}] * 2]
    assert notices(later) == []


async def test_a_setting_allows_it_once_and_for_all(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there, sharing="always") as client:
        first = await private(client)
        sent = await client.call_tool("search_followup", {**in_it(first), "query": "What is it?"})
    assert notices(sent) == [IsStr(regex="perplexity gets this conversation, which only custom .*")]
    assert there.got() == ["perplexity", "custom"]


async def test_documents_and_what_was_said_of_them_stay_in_both_modes(tmp_path: Path, there: Outside) -> None:
    files = written(tmp_path / "documents", HANDBOOK)
    async with opened(tmp_path, there, documents=[files]) as client:
        first = data_of(await client.call_tool("search", {"query": "How many litres may I boil?", "model": "local"}))
        again = data_of(await client.call_tool("deep_research_followup", {**in_it(first), "query": "And on Linux?"}))
        summed = data_of(await client.call_tool("chat", {**in_it(first), "prompt": "Sum it up."}))
        assert there.calls == (0, 0, 1)
        named = await client.call_tool("chat", {**in_it(first), "prompt": "Sum it up.", "model": SOL})
    assert (again["provider"], summed["provider"], there.calls) == ("local", "custom", (0, 1, 1))
    assert notices(named) == [
        IsStr(
            regex=rf"{SOL} gets .* which only local and custom .*: 6 messages with [0-9]+ passages? of your documents"
        )
    ]


async def test_auto_takes_a_model_of_this_machine_and_is_refused_one_outside(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there, custom_default_model="large-1") as client:
        first = await private(client)
        second = data_of(await client.call_tool("chat", {**in_it(first), "prompt": "More?", "model": "auto:deep"}))
        error = error_of(await client.call_tool("search_followup", {**in_it(first), "query": "It?", "model": "auto"}))
    assert (second["provider"], second["requestedModel"]) == ("custom", LARGE)
    assert (error["code"], there.got()) == ("FORBIDDEN", ["custom"])


async def test_a_default_model_outside_names_nobody(tmp_path: Path, there: Outside) -> None:
    files = written(tmp_path / "documents", HANDBOOK)
    async with opened(tmp_path, there, documents=[files], default_model=SOL) as client:
        first = data_of(await client.call_tool("search", {"query": "How many litres?", "model": "local"}))
        error = error_of(await client.call_tool("chat", {**in_it(first), "prompt": "Sum it up."}))
    assert (error["code"], there.calls) == ("FORBIDDEN", (0, 0, 0))
    assert f"would go to {SOL}" in error["message"]


@pytest.mark.parametrize("sharing", ["named", "always"])
async def test_nobody_outside_stands_in_for_a_model_of_this_machine(
    tmp_path: Path, there: Outside, sharing: str
) -> None:
    async with opened(tmp_path, there, fallback_models=[SOL], sharing=sharing, custom_base_url=NOBODY) as client:
        result = await client.call_tool("chat", {"prompt": DIAGNOSIS, "model": LARGE})
        if sharing == "always":
            assert data_of(result)["provider"] == "openai"
        else:
            error = error_of(result)
            assert error["code"] == "PROVIDER_UNAVAILABLE"
            assert f"Of the fallback list {SOL} did not stand in, outside of this machine." in error["message"]
    assert there.got() == (["openai"] if sharing == "always" else [])


async def test_between_providers_outside_the_fallback_list_holds_and_the_first_time_is_said(
    tmp_path: Path, there: Outside
) -> None:
    async with opened(tmp_path, there, fallback_models=[SOL]) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        there.perplexity.faults.append("401")
        second = await client.call_tool("search_followup", {**in_it(first), "query": "two?"})
    assert notices(second)[-2:] == [
        IsStr(regex=f"perplexity did not take the question, .* {SOL} from the fallback list was asked instead"),
        f"{SOL} gets this conversation for the first time (2 messages); perplexity has it already",
    ]
    assert recipients(tmp_path)[-1] == {"perplexity": "outside", "openai": "outside"}


async def test_a_further_provider_outside_is_a_notice_once(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        second = await client.call_tool("chat", {**in_it(first), "prompt": "two?", "model": SOL})
        third = await client.call_tool("search_followup", {**in_it(first), "query": "three?"})
    assert "notices" not in first
    assert notices(second) == [
        f"{SOL} gets this conversation for the first time (2 messages); perplexity has it already"
    ]
    assert (data_of(third)["provider"], notices(third)) == ("openai", [])


async def test_who_has_the_beginning_gets_what_was_said_here_with_a_notice(tmp_path: Path, there: Outside) -> None:
    async with opened(tmp_path, there) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        await client.call_tool("chat", {**in_it(first), "prompt": DIAGNOSIS, "model": LARGE})
        third = await client.call_tool("search_followup", {**in_it(first), "query": "three?"})
    assert notices(third) == [LATER.format("perplexity")]


async def test_an_error_suggests_first_what_keeps_the_words_where_they_are(tmp_path: Path, there: Outside) -> None:
    own = {f"custom:{name}": {"context": tokens} for name, tokens in {"large-1": 4_096, "wide": 200_000}.items()}
    async with opened(tmp_path, there, models=own) as client:
        first = await private(client)
        long = {"prompt": "word " * 20_000, "model": LARGE}
        error = error_of(await client.call_tool("chat", {**in_it(first), **long}))
        begun = error_of(await client.call_tool("chat", long))
        public = data_of(await client.call_tool("chat", {"prompt": "one?", "model": SOL}))
        other = error_of(await client.call_tool("chat", {**in_it(public), **long}))
    for one in (error, begun):
        assert one["code"] == "CONTEXT_TOO_LARGE"
        assert "Name a model that takes more: custom:wide. Also outside of this machine: " in one["message"]
    assert re.search(r"takes more: (custom|openai):\S+ or (custom|openai):\S+ or \S+\. Or start", other["message"])
    assert there.got() == ["custom"]


async def test_passages_go_to_the_model_that_is_set_for_documents_with_a_notice_that_counts_them(
    tmp_path: Path, there: Outside
) -> None:
    files = written(tmp_path / "documents", HANDBOOK)
    async with opened(tmp_path, there, documents=[files], documents_model=SOL) as client:
        result = await client.call_tool("search", {"query": "How many litres may I boil?", "model": "local"})
    assert notices(result)[0] == IsStr(
        regex=rf"{SOL} wrote this answer from [0-9]+ passages? of your documents, sent.*"
    )
    assert recipients(tmp_path) == [{"local": "this machine", "openai": "outside"}]
    assert there.got("1.7 litres") == ["openai"]


async def test_auto_for_documents_takes_a_model_of_this_machine(tmp_path: Path, there: Outside) -> None:
    files = written(tmp_path / "documents", HANDBOOK)
    changes = {"documents": [files], "documents_model": "auto", "custom_default_model": "large-1"}
    async with opened(tmp_path, there, **changes) as client:
        await client.call_tool("search", {"query": "How many litres may I boil?", "model": "local"})
    assert there.got("1.7 litres") == ["custom"]
    assert recipients(tmp_path) == [{"local": "this machine", "custom": "this machine"}]


async def test_the_model_for_documents_does_not_get_what_was_said_to_another_one_here(
    tmp_path: Path, there: Outside
) -> None:
    files = written(tmp_path / "documents", HANDBOOK)
    async with opened(tmp_path, there, documents=[files], documents_model=SOL) as client:
        first = await private(client)
        follow_up = {**in_it(first), "query": "How many litres may I boil?", "model": "local"}
        error = error_of(await client.call_tool("search_followup", follow_up))
    assert (error["code"], there.calls) == ("FORBIDDEN", (0, 0, 1))
    assert "Unset CONVERSATION_MCP_DOCUMENTS_MODEL" in error["message"]
    assert "pendingTurn" not in only_conversation(tmp_path)


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


async def test_following_a_hint_never_changes_who_is_asked(tmp_path: Path, there: Outside) -> None:
    files = written(tmp_path / "documents", HANDBOOK)
    async with opened(tmp_path, there, documents=[files]) as client:
        chat = await client.call_tool("chat", {"prompt": DIAGNOSIS, "model": LARGE})
        search = await client.call_tool("search", {"query": "How many litres?", "model": "local"})
        branch = await client.call_tool("branch_conversation", {**in_it(data_of(chat)), "messageNumber": 3})
        for shown, provider in ((chat, "custom"), (search, "local"), (branch, "custom")):
            hint = HINT.fullmatch(data_of(shown)["nextStep"])
            assert hint, data_of(shown)["nextStep"]
            assert data_of(shown)["nextStep"] in text_of(shown)
            for tool in hint["tools"].split(" or "):
                words = {"prompt": "more?"} if tool == "chat" else {"query": "more?"}
                told = {"conversationId": hint["id"], "model": hint["model"], **words}
                assert data_of(await client.call_tool(tool, told))["provider"] == provider
        prompt = await client.get_prompt("continue_conversation", {**in_it(data_of(chat)), "question": "more?"})
    assert f"call chat with conversationId {data_of(chat)['conversationId']} and model {LARGE} and this" in str(
        prompt.messages[0].content
    )
    assert there.calls[:2] == (0, 0)


def test_the_hint_of_the_command_line_asks_the_same_model_in_the_same_way(tmp_path: Path, there: Outside) -> None:
    """The command that is printed is run as it is; nobody else gets a word."""
    ended = piped(tmp_path, "ask", "--chat", "--model", LARGE, DIAGNOSIS, **there.variables())
    command = ended.err.partition("follow up with:  ")[2].strip()
    assert command == f'conversation-mcp ask --chat -c last --model {LARGE} "…"'
    followed = piped(tmp_path, *shlex.split(command)[1:], **there.variables())
    bare = piped(tmp_path, "ask", "--chat", "-c", "last", "And more?", **there.variables())
    refused = piped(tmp_path, "ask", "-c", "last", "What is it?", **there.variables())
    assert [one.code for one in (ended, followed, bare, refused)] == [0, 0, 0, 1]
    assert refused.err.startswith("FORBIDDEN: this conversation, which only custom")
    assert there.calls == (0, 0, 3)
    sent = piped(tmp_path, "ask", "-c", "last", "What is it?", "--model", "fast", **there.variables())
    assert (sent.code, there.got()) == (0, ["perplexity", "custom"])
    assert only_conversation(tmp_path)["messages"][-1] == IsPartialDict(sentTo={"perplexity": "outside"})


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


def put_chat(folder: Path, **facts: Any) -> str:
    """Write a conversation with one answer of `custom` by hand, with these facts about the answer."""
    conversation_id, moment = "20260131-1769817600000", "2026-01-31T00:00:00.000Z"
    path = folder / "conversation-logs" / conversation_id / "conversation.json"
    path.parent.mkdir(parents=True)
    answer = {"role": "assistant", "content": "1", "provider": "custom", **facts}
    times = {"createdAt": moment, "updatedAt": moment, "messageCount": 2}
    messages = [{"role": "user", "content": DIAGNOSIS}, answer]
    path.write_text(json.dumps({"conversationId": conversation_id, **times, "messages": messages}), encoding="utf-8")
    return conversation_id


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


@pytest.mark.parametrize("model", [None, "auto", "", "null", "opus", "flash", "gemma4:e4b-of-mine"])
async def test_words_do_not_follow_a_server_that_has_moved_away(
    tmp_path: Path, there: Outside, model: str | None
) -> None:
    conversation_id = put_chat(tmp_path, sentTo={"custom": "this machine"})
    moved = {"custom_base_url": "http://127.0.0.1.nip.example/v1", "custom_default_model": "large-1"}
    async with opened(tmp_path, there, **moved) as client:
        question = {
            "conversationId": conversation_id,
            "prompt": "It?",
            **({"model": model} if model is not None else {}),
        }
        error = error_of(await client.call_tool("chat", question))
    assert (error["code"], there.calls) == ("FORBIDDEN", (0, 0, 0))


@pytest.mark.parametrize("default_model", ["fast", "opus", "openai", "auto:deep"])
async def test_no_setting_of_a_default_sends_words_away(tmp_path: Path, there: Outside, default_model: str) -> None:
    settings = {"default_model": default_model, "preferred_models": [SOL], "fallback_models": [SOL, "perplexity"]}
    files = written(tmp_path / "documents", HANDBOOK)
    async with opened(tmp_path, there, documents=[files], **settings, custom_base_url=NOBODY) as client:
        first = data_of(await client.call_tool("search", {"query": "How many litres may I boil?", "model": "local"}))
        for model in ({}, {"model": "auto"}):
            error = error_of(await client.call_tool("chat", {**in_it(first), "prompt": "Sum it up.", **model}))
            assert error["code"] == "FORBIDDEN"
    assert there.calls == (0, 0, 0)


async def test_a_misspelt_setting_allows_nothing(tmp_path: Path) -> None:
    for value in ("Always", "yes", "allways", "true"):
        ended = piped(tmp_path, "ask", "one?", CONVERSATION_MCP_SHARING=value)
        assert (ended.code, "CONVERSATION_MCP_SHARING" in ended.err) == (1, True)


class Redirecting(BaseHTTPRequestHandler):
    """A server of this machine that sends everybody elsewhere."""

    target = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_response(307)
        self.send_header("Location", f"{self.target}{self.path}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that http.server gives it
        """Say nothing."""


async def test_a_server_here_that_sends_words_on_to_another_is_not_followed(tmp_path: Path, there: Outside) -> None:
    handler = type("Handler", (Redirecting,), {"target": there.custom.base_url.removesuffix("/v1")})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        moved = {"custom_base_url": f"http://127.0.0.1:{server.server_port}/v1"}
        async with opened(tmp_path, there, **moved) as client:
            error = error_of(await client.call_tool("chat", {"prompt": DIAGNOSIS, "model": LARGE}))
    finally:
        server.shutdown()
        server.server_close()
    assert (error["code"], there.calls) == ("PROVIDER_REJECTED", (0, 0, 0))
