"""Questions that come through a pipe, and streams that others close."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import PROGRAM, anonymous, clean_environment, piped, put_conversation
from tests.fixtures.folders import ID, only_conversation

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
