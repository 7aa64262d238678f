"""What stays on this machine and what may leave it: every way to go on, and what each provider then received."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from dirty_equals import IsStr
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.cli import piped
from tests.fixtures.documents import HANDBOOK, written
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


@pytest.fixture
def there() -> Iterator[Outside]:
    with LoopbackAgent() as agent, ResponsesServer("openai") as openai, ChatServer("custom") as custom:
        yield Outside(agent, openai, custom)


def recipients(folder: Path) -> list[dict[str, str]]:
    return [m["sentTo"] for m in only_conversation(folder)["messages"] if m["role"] == "assistant"]


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
            assert (
                f"Not asked from the fallback list, because words would leave this machine: {SOL}." in error["message"]
            )
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
        assert (ended.code, "CONVERSATION_MCP_SHARING" in ended.err) == (2, True)


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
