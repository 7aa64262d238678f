"""An answer as it reaches its reader: rendered on a terminal, as it comes in a pipe."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import CTRL_C, PROGRAM, Terminal, clean_environment, on_terminal, piped
from tests.fixtures.documents import HANDBOOK, written

from conversation_mcp.clock import utc_now

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")
CTRL_D = "\x04"
MARKED = "**bold** Vec<T> and `code` ![plot](https://example.org/plot.png)"
RENDERED = "answer 1 to: bold Vec<T> and code !plot (https://example.org/plot.png)[1]"


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def test_an_answer_is_rendered_on_a_terminal_as_show_renders_it(tmp_path: Path, agent: LoopbackAgent) -> None:
    asked = on_terminal(tmp_path, "ask", MARKED, base_url=agent.base_url, columns=100)
    assert asked.code == 0, asked.out
    assert asked.out.splitlines()[0] == RENDERED
    assert RENDERED in on_terminal(tmp_path, "show", "last", "--no-pager", columns=100).out.splitlines()


def test_each_source_has_a_line_of_its_own_with_its_address_on_a_terminal_and_in_a_pipe(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    on_screen = on_terminal(tmp_path, "ask", "one?", base_url=agent.base_url, columns=100).out.splitlines()
    in_pipe = piped(tmp_path, "ask", "two?", base_url=agent.base_url).out.splitlines()
    sources = ["  1  Page 1  https://example.org/1", "  2  Page 2  https://example.org/2 (not cited)"]
    assert on_screen[1:3] == in_pipe[1:3] == sources
    shown = piped(tmp_path, "show", "last").out.splitlines()
    assert [line for line in shown if "example.org" in line] == [
        r"- \[1\] [Page 1](<https://example.org/1>) (2026-06-10)",
        r"- \[2\] [Page 2](<https://example.org/2>) (2026-06-10)",
    ]


def test_a_passage_is_named_with_its_line_on_a_terminal_and_in_a_pipe(tmp_path: Path) -> None:
    documents = written(tmp_path / "handbook", HANDBOOK)
    command = ("ask", "How is Kettle installed on Linux?", "--documents", str(documents))
    line = f"  1  Kettle guide  {documents / 'guide.md'}:9"
    assert line in on_terminal(tmp_path, *command, columns=200).out.splitlines()
    assert line in piped(tmp_path, *command).out.splitlines()
    assert f"{documents / 'guide.md'}:9" in piped(tmp_path, "show", "last").out


def test_the_first_words_go_through_a_pipe_before_the_answer_has_ended(tmp_path: Path, agent: LoopbackAgent) -> None:
    with subprocess.Popen(
        [*PROGRAM, "ask", "one **two** [[hold]]"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_environment(tmp_path, agent.base_url),
        cwd=tmp_path,
    ) as process:
        assert process.stdout
        assert process.stdout.read(len("answer 1")) == b"answer 1"
        assert process.poll() is None
        agent.release()
        rest = process.stdout.read().decode()
    assert rest.splitlines()[0] == " to: one **two**[1]"


def test_text_of_a_stream_that_broke_is_not_shown_twice(tmp_path: Path, agent: LoopbackAgent) -> None:
    question = "one [[fault:dropped]]"
    assert piped(tmp_path, "ask", question, base_url=agent.base_url).out.splitlines()[0] == "answer 1 to: one[1]"
    shown = on_terminal(tmp_path, "ask", question, base_url=agent.base_url).out.splitlines()
    assert [line for line in shown if "to: one" in line] == ["answer 1 to: one[1]"]


@pytest.mark.parametrize("term", ["dumb", "xterm-256color"])
def test_a_narrow_or_simple_terminal_shows_every_word_once(tmp_path: Path, agent: LoopbackAgent, term: str) -> None:
    ended = on_terminal(tmp_path, "ask", "one two three four", base_url=agent.base_url, columns=20, TERM=term)
    assert ended.code == 0
    assert ended.out.replace("\n", " ").count("one two three") == 1


def press_ctrl_c(terminal: Terminal, condition: Callable[[str], bool]) -> None:
    """Press it until it is noticed: readline sleeps through a signal that comes just before it waits for a key."""
    for _ in range(10):
        terminal.type(CTRL_C)
        with suppress(AssertionError):
            terminal.until(condition, timeout_seconds=2)
            return
    raise AssertionError(terminal.output)


def test_ctrl_c_at_the_prompt_ends_nothing_and_ctrl_d_ends_it(tmp_path: Path, agent: LoopbackAgent) -> None:
    with Terminal(tmp_path, "chat", base_url=agent.base_url) as terminal:
        terminal.until("Ctrl-D ends.\n>")
        press_ctrl_c(terminal, lambda screen: screen.count("Ctrl-D ends.\n>") > 1)
        terminal.type("**one**\n")
        terminal.until("answer 1 to: one")
        terminal.until(lambda screen: screen.endswith("\n>"))
        terminal.type(CTRL_D)
        ended = terminal.end()
    assert ended.code == 0, ended.out
    assert "Traceback" not in ended.out
    (path,) = (tmp_path / "conversation-logs").glob("*/conversation.json")
    assert json.loads(path.read_text(encoding="utf-8"))["messages"][-2]["content"] == "**one**"


def test_days_that_are_so_long_ago_are_filters_of_a_search(tmp_path: Path, agent: LoopbackAgent) -> None:
    days = [(utc_now() - timedelta(days=ago)).strftime("%-m/%-d/%Y") for ago in (10, 2)]
    done = piped(tmp_path, "ask", "--after", "10d", "--before", "2d", "one?", base_url=agent.base_url, TZ="UTC")
    assert done.code == 0, done.err
    sent = json.dumps(agent.requests[-1])
    assert [day for day in days if day in sent] == days
    assert piped(tmp_path, "ask", "--after", "2 days", "two?", base_url=agent.base_url).code == 2
