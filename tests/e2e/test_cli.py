"""The command line in pipes: what scripts get, what they can tell from the exit code, what every machine bears."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict, IsStr
from inline_snapshot import snapshot
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import PROGRAM, anonymous, clean_environment, piped, put_conversation
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
READERS = (["list", "--json"], ["show", "last"], ["export", "last"], ["search", "tree"], ["stats"])


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def test_a_pipe_gets_the_answer_and_its_sources_and_stderr_the_rest(tmp_path: Path, agent: LoopbackAgent) -> None:
    ended = piped(tmp_path, "ask", "What is a B-tree?", "--academic", base_url=agent.base_url)
    assert ended.code == 0
    assert ended.out == snapshot("""\
answer 1 to: What is a B-tree?[1]
  1  Page 1  https://example.org/1
  2  Page 2  https://example.org/2 (not cited)
""")
    assert anonymous(ended.err) == snapshot("""\
Notice: search_mode academic was applied as an instruction; the provider has no such filter.
20260131-1769817600000 · perplexity fast (openai/gpt-6-luna) · $0.0031 · follow up with:  conversation-mcp ask -c last "…"
""")


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_a_question_comes_through_a_pipe(tmp_path: Path, agent: LoopbackAgent, arguments: list[str]) -> None:
    ended = piped(tmp_path, "ask", *arguments, base_url=agent.base_url, question=b"\xef\xbb\xbfOne\nl\xc3\xa4nger?\n")
    assert ended.code == 0
    assert only_conversation(tmp_path)["messages"][1]["content"] == "One\nlänger?"


def test_what_a_pipe_gives_goes_with_the_question(tmp_path: Path, agent: LoopbackAgent) -> None:
    for arguments in (["Summarize this"], ["Summarize this", "-"], ["-c", "last", "Summarize this"]):
        ended = piped(tmp_path, "ask", *arguments, base_url=agent.base_url, question="A text\nof two lines.\n")
        assert ended.code == 0, ended.err
        sent: str = agent.requests[-1]["input"][-1]["content"]
        assert sent == "Summarize this\n\nA text\nof two lines."


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize("stdin", ["</dev/null", "<&-"])
def test_a_question_without_a_pipe_goes_alone_and_at_once(tmp_path: Path, agent: LoopbackAgent, stdin: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {stdin}', "sh", *PROGRAM, "ask", "one?"],
        env=clean_environment(tmp_path, agent.base_url),
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"waited" not in done.stderr
    assert only_conversation(tmp_path)["messages"][1]["content"] == "one?"


def test_too_long_a_text_from_a_pipe_is_refused_before_anything_is_asked(tmp_path: Path, agent: LoopbackAgent) -> None:
    ended = piped(
        tmp_path,
        "ask",
        "one?",
        base_url=agent.base_url,
        question="x" * 101,
        CONVERSATION_MCP_MAX_QUESTION_CHARS="100",
    )
    assert (ended.code, agent.creates) == (2, 0)
    assert "longer than a question may be, 100 characters" in ended.err


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


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437"])
def test_a_code_page_that_lacks_characters_gets_question_marks(
    tmp_path: Path, agent: LoopbackAgent, encoding: str
) -> None:
    put_conversation(tmp_path, ID, title="漢字 🙂 größer …")
    narrow = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for command in (["list"], ["show", "last"], ["search", "tree"], ["config"], ["ask", "-c", "last", "漢?"]):
        done = subprocess.run(
            [*PROGRAM, *command],
            env=clean_environment(tmp_path, agent.base_url, **narrow),
            cwd=tmp_path,
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr.decode(encoding)
        assert "Traceback" not in done.stderr.decode(encoding)
    assert only_conversation(tmp_path)["messages"][-2]["content"] == "漢?"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way")
@pytest.mark.parametrize("command", [["list"], ["list", "--limit=0"], ["show", "last"], ["show", "last", "--json"]])
def test_a_reader_who_has_left_is_no_catastrophe(tmp_path: Path, command: list[str]) -> None:
    put_conversation(tmp_path, ID)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PROGRAM, *command],
        env=clean_environment(tmp_path),
        cwd=tmp_path,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_an_output_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path, command: list[str]) -> None:
    put_conversation(tmp_path, ID)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, env=clean_environment(tmp_path), check=False
        )
    assert done.returncode == 1
    assert done.stderr.decode() == "the output cannot be written: No space left on device.\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_the_caller_closed_is_no_catastrophe(tmp_path: Path, closed: str) -> None:
    put_conversation(tmp_path, ID)
    for command in READERS:
        done = subprocess.run(
            ["/bin/sh", "-c", f'"$@" {closed}', "sh", *PROGRAM, *command],
            capture_output=True,
            env=clean_environment(tmp_path),
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert only_conversation(tmp_path)["conversationId"] == ID


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize(("output", "closed"), [(">&-", b"stdout is closed"), (">/dev/full", b"cannot be written")])
def test_an_answer_that_could_not_be_printed_is_kept_for_the_same_question(
    tmp_path: Path, agent: LoopbackAgent, output: str, closed: bytes
) -> None:
    environment = clean_environment(tmp_path, agent.base_url)
    command = ["/bin/sh", "-c", f'"$@" {output}', "sh", *PROGRAM, "ask", "one?"]
    done = subprocess.run(command, capture_output=True, env=environment, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1
    assert closed in done.stderr
    again = piped(tmp_path, "ask", "one?", base_url=agent.base_url)
    assert (again.code, again.out.splitlines()[0]) == (0, "answer 1 to: one?[1]")
    assert "nothing was paid again" in again.err
    assert agent.creates == 1
    assert piped(tmp_path, "ask", "one?", base_url=agent.base_url).code == 0
    assert agent.creates == 2


def test_resume_and_cancel_take_the_start_of_an_id(tmp_path: Path, agent: LoopbackAgent) -> None:
    left_behind(tmp_path, status="failed", error={"code": "X", "message": "Broken."}, usage={"costUsd": 0.5})
    nothing = piped(tmp_path, "resume", base_url=agent.base_url)
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "No question waits for its answer.\n")
    resumed = piped(tmp_path, "resume", "20260131", base_url=agent.base_url)
    assert (resumed.code, resumed.out) == (1, f"{ID}  failed: two? (Broken); billed $0.50\n")
    cancelled = piped(tmp_path, "cancel", "last", base_url=agent.base_url)
    assert cancelled.code == 1
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

    def seconds(*command: str) -> float:
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, *command], env=clean_environment(tmp_path), check=True, stdout=subprocess.DEVNULL
        )
        return time.perf_counter() - started

    listing, importing = ("-m", "conversation_mcp", "list"), ("-c", "import pydantic")
    pairs = [(seconds(*listing), seconds(*importing)) for _ in range(6)]
    assert min(pair[0] for pair in pairs) <= 3 * min(pair[1] for pair in pairs)
