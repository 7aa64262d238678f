"""The prompt that remembers: on a terminal, and for a program that types into it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import CTRL_C, Ended, Terminal, piped
from tests.fixtures.folders import only_conversation


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def typed(folder: Path, agent: LoopbackAgent, *lines: str, command: tuple[str, ...] = ("ask", "-i")) -> Ended:
    return piped(folder, *command, base_url=agent.base_url, question="".join(f"{line}\n" for line in lines))


def conversations(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "conversation-logs").glob("*/conversation.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def questions(conversation: dict[str, Any]) -> list[str]:
    return [message["content"] for message in conversation["messages"] if message["role"] == "user"]


def test_each_line_is_the_next_question_of_one_conversation_and_sees_what_was_said(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    ended = typed(
        tmp_path, agent, "\ufeffone?", "", " /two?", "/multi", "three", "", "lines?", "/end", "/quit", "never?"
    )
    assert ended.code == 0, ended.err
    assert questions(only_conversation(tmp_path)) == ["one?", "/two?", "three\n\nlines?"]
    assert [item["content"] for item in agent.requests[-1]["input"]][-5::2] == ["one?", "/two?", "three\n\nlines?"]
    assert ended.out.count("answer ") == 3


def test_a_failed_question_is_told_and_the_next_one_goes_on_in_the_same_conversation(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    ended = typed(tmp_path, agent, "one? [[fault:402]]", "two?")
    assert ended.code == 0
    assert ended.err.startswith("PROVIDER_QUOTA: ")
    found = only_conversation(tmp_path)
    assert questions(found) == ["two?"]
    assert [turn["question"] for turn in found["unansweredTurns"]] == ["one? [[fault:402]]"]
    assert typed(tmp_path, agent, "three? [[fault:402]]", command=("ask", "-i", "-c", "last")).code == 1


def test_commands_change_how_and_where_the_next_question_is_asked(tmp_path: Path, agent: LoopbackAgent) -> None:
    lines = (
        "/model medium",
        "one?",
        "/deep",
        "/model",
        "two? [[polls:0]]",
        "/nonsense",
        "/new",
        "/search",
        "three?",
        "/id",
    )
    ended = typed(tmp_path, agent, *lines)
    first, second = conversations(tmp_path)
    assert [message.get("tool") for message in first["messages"] if message["role"] == "user"] == [
        "search",
        "deep_research_followup",
    ]
    assert first["messages"][2] == IsPartialDict(preset="medium")
    assert questions(second) == ["three?"]
    assert ended.out.endswith(f"{second['conversationId']}\n")
    assert "There is no command /nonsense;" in ended.err


def test_a_system_text_opens_a_conversation_and_stays_with_it(tmp_path: Path, agent: LoopbackAgent) -> None:
    for command in (("ask", "-s", "Be a pirate.", "one?"), ("ask", "-i", "--system", "Be a pirate.", "one?")):
        typed(tmp_path, agent, "two?", command=command)
    alone, prompted = conversations(tmp_path)
    assert alone["messages"][0] == prompted["messages"][0] == {"role": "system", "content": "Be a pirate."}
    assert questions(prompted) == ["one?", "two?"]
    refused = typed(tmp_path, agent, command=("ask", "-c", "last", "-s", "Be brief.", "three?"))
    assert (refused.code, "--system is for a new conversation" in refused.err) == (2, True)
    assert typed(tmp_path, agent, command=("chat", "-s", " ", "three?")).code == 2


def test_chat_asks_without_a_search(tmp_path: Path, agent: LoopbackAgent) -> None:
    ended = typed(tmp_path, agent, "two?", command=("chat", "one?", "-m", "fast"))
    assert ended.code == 0, ended.err
    messages = only_conversation(tmp_path)["messages"]
    assert [message.get("tool") for message in messages if message["role"] == "user"] == ["chat", "chat"]


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")
def test_ctrl_c_stops_the_question_and_not_the_program(tmp_path: Path, agent: LoopbackAgent) -> None:
    with Terminal(
        tmp_path,
        "ask",
        "-i",
        base_url=agent.base_url,
        columns=150,
        CONVERSATION_MCP_ENDING_GRACE_SECONDS="0.1",
    ) as terminal:
        terminal.until(lambda screen: screen.endswith(">"))
        assert "/help shows the commands" in terminal.screen
        terminal.type("one? [[hold]]\n")
        terminal.until("answer 1")
        terminal.type(CTRL_C)
        terminal.until("The question was interrupted")
        terminal.type("two?\n")
        terminal.until("answer 2 to: two?")
        terminal.type("/quit\n")
        ended = terminal.end()
    assert ended.code == 0
    assert "Traceback" not in ended.out
    assert questions(only_conversation(tmp_path))[-1] == "two?"
