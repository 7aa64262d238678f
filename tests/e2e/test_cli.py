"""The command line in pipes: what scripts get, what they can tell from the exit code, what every machine bears."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict, IsStr
from inline_snapshot import snapshot
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import PROGRAM, clean_environment, piped, put_conversation
from tests.fixtures.folders import ID, left_behind, only_conversation, only_file, until_noted

NEW_COMMANDS = (
    ["ask", "--effort", "low", "x"],
    ["show", "last"],
    ["list"],
    ["search", "tree"],
    ["config"],
    ["cancel", "last"],
    ["tag", "last", "word"],
    ["trash"],
    ["prune", "--older-than", "1d"],
    ["delete", "last"],
    ["doctor", "--write", "cursor"],
)


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def test_a_script_gets_one_json_document_and_the_filters_reach_the_provider(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    options = ["--json", "--domain", "example.org", "--domain", "docs.python.org", "--after", "2026-01-31"]
    options += ["--related", "--model", "medium", "--show-thinking"]
    ended = piped(tmp_path, "ask", "one? [[fault:think]]", *options, base_url=agent.base_url)
    assert ended.err == ""
    result = json.loads(ended.out)
    assert result == IsPartialDict(
        status="completed",
        preset="medium",
        reasoning="secret plan",
        relatedQuestions=["What came before it?", "What comes after it?", "Who says so?"],
        nextStep=f'Follow up: conversation-mcp ask -c {result["conversationId"]} "…"',
        conversationPath=str(only_file(tmp_path)),
    )
    assert agent.requests[0]["tools"] == [
        {
            "type": "web_search",
            "filters": {
                "search_domain_filter": ["example.org", "docs.python.org"],
                "search_after_date_filter": "01/31/2026",
            },
        }
    ]


def test_a_research_is_waited_for_longer_than_a_tool_would(tmp_path: Path, agent: LoopbackAgent) -> None:
    waits = {"CONVERSATION_MCP_ANSWER_WAIT_SECONDS": "0"}
    ended = piped(tmp_path, "ask", "--deep", "--effort", "low", "one? [[polls:0]]", base_url=agent.base_url, **waits)
    assert ended.out.startswith("answer 1 to: one?[1]\n")
    assert agent.requests[0] == IsPartialDict(background=True, reasoning={"effort": "low"})
    assert only_conversation(tmp_path)["messages"][1] == IsPartialDict(tool="deep_research")


def test_a_question_without_an_answer_fails_and_is_kept(tmp_path: Path, agent: LoopbackAgent) -> None:
    ended = piped(tmp_path, "ask", "one? [[fault:402]]", base_url=agent.base_url)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "PROVIDER_QUOTA: the Perplexity account is out of credit. Nothing was billed for this call. "
        f"Add credit, then ask again. The question is kept in {only_conversation(tmp_path)['conversationId']}.\n"
    )
    shown = piped(tmp_path, "show", "last")
    assert "one? [[fault:402]]" in shown.out


def test_json_is_the_file_byte_for_byte(tmp_path: Path) -> None:
    path = put_conversation(tmp_path, ID)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n\r\n")
    done = subprocess.run(
        [*PROGRAM, "show", "last", "--json"], env=clean_environment(tmp_path), check=True, capture_output=True
    )
    assert done.stdout == path.read_bytes()


def test_resume_and_cancel_take_the_start_of_an_id(tmp_path: Path, agent: LoopbackAgent) -> None:
    left_behind(tmp_path, status="failed", error={"code": "X", "message": "Broken."}, usage={"costUsd": 0.5})
    nothing = piped(tmp_path, "resume", base_url=agent.base_url)
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "No question is waiting for its answer.\n")
    resumed = piped(tmp_path, "resume", "20260131", base_url=agent.base_url)
    assert (resumed.code, resumed.out) == (1, f"{ID}  failed: two? (Broken); billed $0.50\n")
    cancelled = piped(tmp_path, "cancel", "last", base_url=agent.base_url)
    assert cancelled.code == 2
    assert cancelled.err == snapshot("VALIDATION_ERROR: no question of 20260131-1769817600000 is being answered.\n")


def test_cancel_stops_a_question_that_another_process_asks(tmp_path: Path, agent: LoopbackAgent) -> None:
    with subprocess.Popen(
        [*PROGRAM, "ask", "--deep", "one? [[hold]]"],
        env=clean_environment(tmp_path, agent.base_url),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as asking:
        until_noted(tmp_path)
        cancelled = piped(tmp_path, "cancel", "last", base_url=agent.base_url)
        _, err = asking.communicate(timeout=100)
    assert cancelled.code == 0, cancelled.err
    assert cancelled.out == IsStr(regex=r"[0-9-]{22}  failed: one\? \[\[hold\]\].*\n")
    assert asking.returncode == 1
    assert err.decode().startswith("CANCELLED: the perplexity run was cancelled.")


def test_no_command_but_serve_and_doctor_imports_the_sdk_and_a_list_imports_next_to_nothing(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    heavy = ("mcp", "mcp_types", "httpx", "httpx2", "rich", "typer", "pydantic", "anyio")
    code = (
        "import sys\n"
        "from conversation_mcp.cli.entry import run\n"
        "sys.argv[1:] = sys.argv[2:]\n"
        "try:\n"
        "    run()\n"
        "except SystemExit:\n"
        "    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)\n"
    )
    imported: dict[str, str] = {}
    for command in NEW_COMMANDS:
        done = subprocess.run(
            [sys.executable, "-c", code, "program", *command],
            env=clean_environment(tmp_path),
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
        )
        imported[command[0]] = done.stderr.splitlines()[-1]
    assert imported.pop("list") == "[]"
    assert not [names for names in imported.values() if "mcp" in names or "httpx" in names or "rich" in names]


def test_the_shell_completes_commands_and_ids(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="A title: with colon")
    program = "conversation-mcp"

    def offered(words: str) -> str:
        completing = {
            "_CONVERSATION_MCP_COMPLETE": "complete_zsh",
            "_TYPER_COMPLETE_ARGS": f"{program} {words}",
        }
        return piped(tmp_path, **completing).out

    assert "search" in offered("se")
    assert "A title" in offered("show 2026")
    for words in ("show 2026", "show la", "ask -c 2026", "resume 2026", "cancel 2026"):
        assert offered(words).count(ID if words.endswith("2026") else "last") == 1
    assert "claude-desktop" in offered("doctor --write cla")
    for words in ("show 1999", f"show --logs-dir {tmp_path / 'none'} 2026"):
        assert ID not in offered(words)


def test_the_shell_completes_models_of_the_providers_that_can_be_asked(tmp_path: Path) -> None:
    def offered(words: str, base_url: str = "") -> list[str]:
        completing = {
            "_CONVERSATION_MCP_COMPLETE": "complete_bash",
            "COMP_WORDS": f"conversation-mcp {words}",
            "COMP_CWORD": str(len(words.split())),
        }
        return piped(tmp_path, base_url=base_url, **completing).out.split()

    for command in ("ask", "chat"):
        assert offered(f"{command} --model hi") == ["high"]
        assert "openai/gpt-5-mini" in offered(f"{command} --model openai/gpt-5", "http://127.0.0.1:9")
        assert offered(f"{command} --model openai/gpt-5") == []


@pytest.mark.slow
def test_a_list_of_a_thousand_conversations_is_there_at_once(tmp_path: Path) -> None:
    text = "a sentence of some length. " * 100
    messages = [
        {"role": "user", "content": "What?"},
        {"role": "assistant", "content": text},
    ] * 3
    for number in range(1000):
        put_conversation(tmp_path, f"20260131-{number:013}", messages=messages)
    # With compiled modules, as an installed program has them after its first start.
    environment = {**clean_environment(tmp_path), "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def seconds(*command: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, *command], env=environment, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started

    listing, importing = ("-m", "conversation_mcp", "list"), ("-c", "import pydantic")
    pairs = [(seconds(*listing), seconds(*importing)) for _ in range(6)]
    assert min(pair[0] for pair in pairs) <= 3 * min(pair[1] for pair in pairs)
