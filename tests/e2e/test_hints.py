"""The hints that are printed: following one never changes who is asked."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.cli import piped
from tests.fixtures.documents import HANDBOOK, written
from tests.fixtures.folders import only_conversation
from tests.fixtures.outside import DIAGNOSIS, LARGE, SOL, Outside, in_it, opened, private
from tests.fixtures.responses_server import ResponsesServer
from tests.fixtures.serving import data_of, error_of, text_of

HINT = re.compile(r"Follow up: (?P<tools>.+) with conversationId (?P<id>\S+?)(?: and model (?P<model>\S+))?\.")


@pytest.fixture
def there() -> Iterator[Outside]:
    with LoopbackAgent() as agent, ResponsesServer("openai") as openai, ChatServer("custom") as custom:
        yield Outside(agent, openai, custom)


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
        assert "Name a model that accepts more: custom:wide. Also outside of this machine: " in one["message"]
    assert re.search(r"accepts more: (custom|openai):\S+ or (custom|openai):\S+ or \S+\. Or start", other["message"])
    assert there.got() == ["custom"]


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
