"""Gemini behind the real server: a research survives a kill and is paid once, and a conversation goes from wire to wire."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.chat_rules import KEY
from tests.fixtures.contract import messages_of
from tests.fixtures.folders import only_conversation, until_noted
from tests.fixtures.interactions_server import InteractionsServer
from tests.fixtures.processes import RawServer


@pytest.fixture
def google() -> Iterator[InteractionsServer]:
    with InteractionsServer() as server:
        yield server


def serving(folder: Path, google: InteractionsServer, base_url: str = "") -> RawServer:
    server = RawServer(folder, base_url, GEMINI_API_KEY=KEY, GEMINI_BASE_URL=google.base_url)
    server.initialize()
    return server


def told(server: RawServer, tool: str, number: int = 1, **arguments: object) -> dict[str, Any]:
    server.call(tool, number, **arguments)
    result = server.answer_to(number)["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]


@pytest.mark.slow
def test_a_research_whose_server_is_killed_is_found_by_its_id_and_paid_once(
    tmp_path: Path, google: InteractionsServer
) -> None:
    with serving(tmp_path, google) as first:
        first.call("deep_research", query="Why? [[hold]]", model="gemini")
        until_noted(tmp_path)
        first.process.kill()
        first.process.wait(20)
    pending = only_conversation(tmp_path)["pendingTurn"]
    assert (pending["provider"], pending["background"]) == ("gemini", True)
    google.release()
    with serving(tmp_path, google) as second:
        conversation_id = only_conversation(tmp_path)["conversationId"]
        page = told(second, "get_conversation_history", conversationId=conversation_id, waitSeconds=50)
    stored = only_conversation(tmp_path)
    answer = stored["messages"][-1]["content"]
    assert answer == page["messages"][-1]["content"]
    assert (answer[:10], answer[-6:]) == ("answer 1 t", "[1][2]")
    assert (stored["messages"][-1]["responseId"], len(google.requests)) == (pending["responseId"], 1)
    assert [source["id"] for source in stored["messages"][-1]["sources"]] == [1, 2]


@pytest.mark.slow
def test_a_search_elsewhere_goes_on_at_gemini_with_every_word_and_source(
    tmp_path: Path, google: InteractionsServer
) -> None:
    with LoopbackAgent() as agent, serving(tmp_path, google, agent.base_url) as server:
        begun = told(server, "search", query="One?")
        known = {"conversationId": begun["conversationId"]}
        told(server, "search_followup", 2, **known, query="Two?", model="gemini:small-1")
        told(server, "search_followup", 3, **known, query="Three?", model="gemini:small-1")
    first, second = (messages_of(body) for body in google.requests)
    assert [role for role, _ in second] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert second[: len(first)] == first
    assert second[-2:] == [("assistant", "answer 2 to: Two?[1][2]"), ("user", "Three?")]
    messages = only_conversation(tmp_path)["messages"]
    assert [len(message.get("sources", ())) for message in messages if message["role"] == "assistant"] == [2, 2, 2]
