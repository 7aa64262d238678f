"""The server as clients start it: its own process, stdio, both eras, signals."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.folders import only_conversation, until_noted
from tests.fixtures.processes import RawServer, environment, server_command
from tests.fixtures.serving import Era, data_of, text_of

TOOLS = [
    "search",
    "search_followup",
    "deep_research",
    "deep_research_followup",
    "get_conversation_history",
    "list_conversations",
]


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_chain_works_over_stdio_and_a_second_process_continues_it(
    tmp_path: Path, agent: LoopbackAgent, era: Era
) -> None:
    async with Client(server_command(tmp_path, agent.base_url), mode=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        data_of(await client.call_tool("search_followup", {**conversation, "query": "two?"}))
    async with Client(server_command(tmp_path, agent.base_url), mode=era) as client:
        data_of(await client.call_tool("deep_research_followup", {**conversation, "query": "three? [[polls:0]]"}))
        history = await client.call_tool("get_conversation_history", conversation)
    stored = only_conversation(tmp_path)["messages"]
    sent = agent.requests[-1]["input"]
    assert [item["role"] for item in sent] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [item["content"] for item in sent] == [message["content"] for message in stored[:-1]]
    answers = [message for message in stored if message["role"] == "assistant"]
    assert len(answers) == 3
    assert all(answer["sources"] and answer["usage"]["costUsd"] > 0 and answer["responseId"] for answer in answers)
    assert answers[-1]["content"] in text_of(history)


def test_stdout_carries_json_rpc_only_from_the_first_byte_to_the_last(tmp_path: Path, agent: LoopbackAgent) -> None:
    with RawServer(tmp_path, agent.base_url, CONVERSATION_MCP_LOG_LEVEL="DEBUG", CONVERSATION_MCP_TYPO="1") as server:
        info = server.initialize()
        server.call("search", query="one?")
        result = server.answer_to(1)["result"]
        out, err = server.end_of_input()
    assert info["serverInfo"] == IsPartialDict(name="conversation-mcp", title="Conversations", version="0.1.0")
    assert "searchFollowup" not in info["instructions"]
    assert not result.get("isError")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert server.process.returncode == 0
    assert b"CONVERSATION_MCP_TYPO is not a setting" in err


def test_it_starts_in_the_root_folder_without_key_and_network(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path / "data"), "CONVERSATION_LOGS_DIR": ""}
    with RawServer(tmp_path, cwd=Path("/"), **home) as server:
        server.initialize()
        server.call("search", query="one?")
        error = server.answer_to(1)["result"]["structuredContent"]
    assert error["code"] == "PROVIDER_NOT_CONFIGURED"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_ends_it_cleanly_and_in_time(
    tmp_path: Path, agent: LoopbackAgent, number: signal.Signals, busy: bool
) -> None:
    with RawServer(tmp_path, agent.base_url, CONVERSATION_MCP_ENDING_GRACE_SECONDS="0.2") as server:
        server.initialize()
        if busy:
            server.call("search", query="one? [[hold]]")
            assert agent.wait_until(lambda agent: agent.creates == 1)
            until_noted(tmp_path)
        started = time.monotonic()
        server.process.send_signal(number)
        out, err = server.end()
        seconds = time.monotonic() - started
    assert server.process.returncode == 0
    assert seconds < 5
    assert [json.loads(line)["jsonrpc"] for line in out.splitlines()] in ([], ["2.0"])
    assert b"Traceback" not in err
    if busy:
        assert only_conversation(tmp_path)["pendingTurn"] == IsPartialDict(
            question="one? [[hold]]", status="interrupted"
        )
    assert leftovers(tmp_path) == []


def test_the_end_of_stdin_ends_it_and_leaves_a_research_to_its_provider(tmp_path: Path, agent: LoopbackAgent) -> None:
    with RawServer(tmp_path, agent.base_url) as server:
        server.initialize()
        server.call("deep_research", query="one? [[hold]]")
        assert agent.wait_until(lambda agent: agent.creates == 1)
        until_noted(tmp_path)
        _out, err = server.end_of_input()
    assert server.process.returncode == 0
    assert b"Traceback" not in err
    pending = only_conversation(tmp_path)["pendingTurn"]
    assert pending == IsPartialDict(status="running", background=True, responseId=next(iter(agent.state.runs)))
    agent.release()
    with RawServer(tmp_path, agent.base_url) as server:
        server.initialize()
        conversation_id = only_conversation(tmp_path)["conversationId"]
        server.call("get_conversation_history", conversationId=conversation_id, waitSeconds=50)
        page = server.answer_to(1)["result"]["structuredContent"]
    assert page["messages"][-1]["role"] == "assistant"
    assert agent.creates == 1


def test_an_unknown_tool_set_ends_the_start_with_the_names(tmp_path: Path) -> None:
    run = run_command(tmp_path, "--tools", "research,managed")
    assert run.returncode == 2
    assert (
        run.stderr
        == "VALIDATION_ERROR: there is no tool set 'managed'; the sets are research, manage, models, consult, memories, log, workflows.\n"
    )
    assert run.stdout == ""


def test_a_setting_that_is_not_valid_ends_the_start_with_its_name(tmp_path: Path) -> None:
    run = run_command(tmp_path, CONVERSATION_MCP_RETRIES="many")
    assert run.returncode == 2
    assert "CONVERSATION_MCP_RETRIES" in run.stderr
    assert "Traceback" not in run.stderr


def test_only_serving_and_the_self_check_import_the_sdk(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "import conversation_mcp.cli.main\n"
        "for command in (['--version'], ['--help'], ['resume'], ['doctor', '--help']):\n"
        "    CliRunner().invoke(conversation_mcp.cli.main.app, command)\n"
        "print([name for name in ('mcp', 'mcp_types', 'httpx', 'httpx2') if name in sys.modules])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment(tmp_path)
    )
    assert run.stdout == "[]\n"


@pytest.mark.parametrize("arguments", [(), ("serve",), ("--documents", "notes"), ("serve", "--logs-dir=logs")])
def test_serving_with_the_default_settings_imports_nothing_that_waits_for_a_question_or_a_switch(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    late = (
        *("typer", "httpx", "sqlite3", "markdown_it", "pathspec", "pypdf", "mammoth"),
        *(f"conversation_mcp.{name}" for name in ("exporting", "importing", "tools.chat", "tools.delete_conversation")),
        *(f"conversation_mcp.{name}" for name in ("asking", "turns.engine", "prompting.composition")),
        *(f"conversation_mcp.providers.{name}" for name in ("definitions", "local", "responses", "chat_completions")),
    )
    code = f"from conversation_mcp.cli.entry import run\nrun()\nimport sys\nprint([*{{*{late}}} & {{*sys.modules}}])"
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
    )
    assert run.stdout == "[]\n"


def test_doctor_finds_everything_in_order_and_shows_four_characters_of_the_key(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    run = run_command(tmp_path, "doctor", base_url=agent.base_url)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "ends in …6789" in run.stdout
    assert "pplx-loopback" not in run.stdout + run.stderr
    assert "the store writes, locks and reads back" in run.stdout
    assert "server answers: initialize, 6 tools" in run.stdout
    assert agent.creates == 0
    assert not (tmp_path / "conversation-logs").exists()


def test_doctor_fails_when_the_folder_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "conversation-logs").write_text("a file")
    run = run_command(tmp_path, "doctor")
    assert run.returncode == 1
    assert "fail" in run.stdout


def run_command(folder: Path, *arguments: str, base_url: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "conversation_mcp", *arguments],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(folder, base_url, **changes),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        timeout=100,
    )


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.endswith(".tmp")]
