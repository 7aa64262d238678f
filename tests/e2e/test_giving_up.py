"""A client that gives up, asks again and looks at the history: one paid call, and the same answer everywhere."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.folders import ID, only_conversation, until_noted
from tests.fixtures.handwritten import roles_of, strays_below, written
from tests.fixtures.processes import RawServer

QUESTION = "two? [[hold]]"
TOOLS = ["search", "search_followup", "deep_research_followup", "deep_research"]
WAYS = ["by cancelling", "at the end of its wait"]
FIRST, AGAIN, PING, HISTORY = 1, 2, 3, 4


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent(background_polls=0) as agent:
        yield agent


def arguments_for(tool: str, folder: Path) -> dict[str, str]:
    """Return the arguments of the call; a follow-up gets a conversation to follow up."""
    if not tool.endswith("_followup"):
        return {"query": QUESTION}
    written(folder, ("system", "Be brief."), ("user", "one?"), ("assistant", "One."))
    return {"query": QUESTION, "conversationId": ID}


def started(server: RawServer) -> RawServer:
    server.initialize()
    return server


def ask_and_give_up(server: RawServer, way: str, tool: str, arguments: dict[str, str], folder: Path) -> None:
    """Ask, wait until the id of the run is on disk, and give up."""
    server.call(tool, FIRST, **arguments)
    if way == "at the end of its wait":
        assert data_of(server.answer_to(FIRST))["status"] == "running"
    until_noted(folder)
    if way == "by cancelling":
        server.send("notifications/cancelled", {"requestId": FIRST, "reason": "the client has waited long enough"})


def ask_again(server: RawServer, tool: str, arguments: dict[str, str], agent: LoopbackAgent) -> dict[str, Any]:
    """Make the same call; the provider goes on only when the server has taken it."""
    server.call(tool, AGAIN, **arguments)
    server.send("ping", number=PING)
    server.answer_to(PING)
    agent.release()
    return data_of(server.answer_to(AGAIN))


def history(server: RawServer, conversation_id: str) -> dict[str, Any]:
    server.call("get_conversation_history", HISTORY, conversationId=conversation_id, waitSeconds=50)
    return data_of(server.answer_to(HISTORY))


def data_of(message: dict[str, Any]) -> dict[str, Any]:
    result = message["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]


def patience(way: str) -> dict[str, str]:
    return {"CONVERSATION_MCP_ANSWER_WAIT_SECONDS": "0"} if way == "at the end of its wait" else {}


def assert_answered_once(
    answer: dict[str, Any], page: dict[str, Any], folder: Path, agent: LoopbackAgent, tool: str
) -> None:
    """One create call; the answer stands in the result, in the history and in the file."""
    stored = only_conversation(folder)
    texts = [answer["rawResultText"], page["messages"][-1]["content"], stored["messages"][-1]["content"]]
    turns = 2 if tool.endswith("_followup") else 1
    assert texts == [f"answer {turns} to: two?[1]"] * 3
    assert roles_of(stored["messages"]) == ["system", *["user", "assistant"] * turns]
    assert stored["messages"][-2]["content"] == QUESTION
    assert "pendingTurn" not in stored
    assert "unansweredTurns" not in stored
    assert (agent.creates, agent.paid) == (1, [QUESTION])
    assert strays_below(folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_client_that_gave_up_and_asks_again_gets_the_answer_of_its_one_call(
    tmp_path: Path, agent: LoopbackAgent, tool: str, way: str
) -> None:
    arguments = arguments_for(tool, tmp_path)
    with ExitStack() as servers:
        first = servers.enter_context(RawServer(tmp_path, agent.base_url, cwd=tmp_path, **patience(way)))
        ask_and_give_up(started(first), way, tool, arguments, tmp_path)
        other = first
        if way == "at the end of its wait":  # a server that waits 0 s tells no answer, so another one is asked
            other = started(servers.enter_context(RawServer(tmp_path, agent.base_url)))
        answer = ask_again(other, tool, arguments, agent)
        page = history(other, answer["conversationId"])
    assert_answered_once(answer, page, tmp_path, agent, tool)


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "way"), list(zip(TOOLS, WAYS * 2, strict=True)))
def test_a_client_whose_server_was_killed_as_well_gets_the_answer_of_its_one_call(
    tmp_path: Path, agent: LoopbackAgent, tool: str, way: str
) -> None:
    arguments = arguments_for(tool, tmp_path)
    with RawServer(tmp_path, agent.base_url, cwd=tmp_path, **patience(way)) as first:
        ask_and_give_up(started(first), way, tool, arguments, tmp_path)
        first.process.kill()
        first.process.wait(20)
    if tool.startswith("search"):
        assert agent.wait_until(lambda agent: agent.state.disconnects == 1)
    with RawServer(tmp_path, agent.base_url) as second:
        answer = ask_again(started(second), tool, arguments, agent)
        page = history(second, answer["conversationId"])
    assert_answered_once(answer, page, tmp_path, agent, tool)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["search", "deep_research"])
def test_a_client_that_only_looks_at_the_history_after_a_kill_finds_the_answer(
    tmp_path: Path, agent: LoopbackAgent, tool: str
) -> None:
    with RawServer(tmp_path, agent.base_url) as first:
        ask_and_give_up(started(first), "by cancelling", tool, arguments_for(tool, tmp_path), tmp_path)
    if tool == "search":
        assert agent.wait_until(lambda agent: agent.state.disconnects == 1)
    agent.release()
    with RawServer(tmp_path, agent.base_url) as second:
        page = history(started(second), only_conversation(tmp_path)["conversationId"])
        answer = ask_again(second, tool, arguments_for(tool, tmp_path), agent)
    assert "never delivered" in answer["notices"][0]
    assert_answered_once(answer, page, tmp_path, agent, tool)
