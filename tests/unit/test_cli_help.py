"""What each command says of itself."""

import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.cli import Here, on_terminal

from conversation_mcp import __version__


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    monkeypatch.setenv("COLUMNS", "80")
    return Here(capsys, monkeypatch, tmp_path)


def test_the_program_lists_its_commands(here: Here) -> None:
    assert here("--help").out == snapshot("""\
Usage: conversation-mcp [OPTIONS] COMMAND [ARGS]...

  Conversations that last, on answer engines that forget. Without a command it
  serves MCP over stdio.

Options:
  --logs-dir FOLDER     Where conversations are kept. [env:
                        CONVERSATION_LOGS_DIR]
  --documents PATH      A file or folder the local provider answers from; may
                        be repeated.
  --tools SETS          Tool sets to switch on, separated by commas. Default:
                        research.
  --version             Show the version and exit.
  --install-completion  Install completion for the current shell.
  --show-completion     Show completion for the current shell, to copy it or
                        customize the installation.
  --help                Show this message and exit.

Commands:
  ask     Ask a question and keep the answer.
  show    Show a conversation.
  list    List the conversations, newest first.
  search  Look for words in all conversations.
  export  Write conversations to files of other formats.
  import  Bring in conversations from ChatGPT, Claude, Claude Code and...
  resume  Fetch answers that nobody waited for.
  cancel  Stop a question that is being answered.
  config  Show each setting and where it comes from.
  doctor  Check everything, and show how to set up clients.
  serve   Serve MCP over stdio, as clients start it.
""")


def test_ask_explains_itself(here: Here) -> None:
    assert here("ask", "--help").out == snapshot("""\
Usage: conversation-mcp ask [OPTIONS] [QUESTION]

  Ask a question and keep the answer.

  It opens a conversation, or is the next question of one. A question that was
  asked and not answered is kept too. In a pipe only the answer and its
  sources go to stdout.

Arguments:
  QUESTION <str>  The question. Left out or -, it is read from a pipe.

Options:
  -c, --continue ID               Follow up in this conversation: its id, the
                                  start of it, or last.
  --deep                          Research thoroughly: minutes, many sources,
                                  more cost.
  --model NAME                    A preset (fast to xhigh), provider/model, or
                                  local.
  --recency <hour|day|week|month|year>
                                  Only pages this recent.
  --domain DOMAIN                 Only this domain, or with a leading - not
                                  this one; may be repeated.
  --after DATE                    Only pages from after this day: 2026-01-31.
  --before DATE                   Only pages from before this day.
  --academic                      Prefer scholarly sources.
  --related                       Also get related questions.
  --effort <low|medium|high>      How hard a research tries; goes with --deep.
  --show-thinking                 Also show the model's reasoning, if it gives
                                  any.
  --json                          Print the result as one JSON document.
  --logs-dir FOLDER               Where conversations are kept. [env:
                                  CONVERSATION_LOGS_DIR]
  --documents PATH                A file or folder the local provider answers
                                  from; may be repeated.
  --help                          Show this message and exit.
""")


def test_show_explains_itself(here: Here) -> None:
    assert here("show", "--help").out == snapshot("""\
Usage: conversation-mcp show [OPTIONS] {ID}

  Show a conversation.

  Questions and answers with their sources and cost, and the questions that
  have no answer. Asks nothing anew.

Arguments:
  ID <str>  A conversation: its id, the start of it, or last.  [required]

Options:
  --raw              Print the Markdown as it is.
  --json             Print the file as it is.
  --no-pager         Do not page what is longer than the terminal.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --help             Show this message and exit.
""")


def test_list_explains_itself(here: Here) -> None:
    assert here("list", "--help").out == snapshot("""\
Usage: conversation-mcp list [OPTIONS]

  List the conversations, newest first.

  In a pipe each is a line of id, time of the last change, answers, cost,
  state and title, with tabs between them.

Options:
  --limit N          How many to show, 0 for all. Default: 20 on a terminal,
                     all in a pipe.  [x>=0]
  --json             Print one JSON document.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --help             Show this message and exit.
""")


def test_search_explains_itself(here: Here) -> None:
    assert here("search", "--help").out == snapshot("""\
Usage: conversation-mcp search [OPTIONS] {WORDS}...

  Look for words in all conversations.

  Titles, questions and answers count, upper and lower case do not. The newest
  match comes first; without one the exit code is 1. In a pipe each match is a
  line as list prints it.

Arguments:
  WORDS <list[str]>  All must occur; quote a phrase.  [required]

Options:
  --limit N          How many to show, 0 for all. Default: 20 on a terminal,
                     all in a pipe.  [x>=0]
  --json             Print one JSON document.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --help             Show this message and exit.
""")


def test_resume_explains_itself(here: Here) -> None:
    assert here("resume", "--help").out == snapshot("""\
Usage: conversation-mcp resume [OPTIONS] [ID]

  Fetch answers that nobody waited for.

  They are found by the ids of their runs; nothing is asked or paid again. A
  run in the background is waited for. The exit code is 1 when a question
  still has no answer.

Arguments:
  ID <str>  One conversation: its id, the start of it, or last. Default: all.

Options:
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --documents PATH   A file or folder the local provider answers from; may be
                     repeated.
  --help             Show this message and exit.
""")


def test_cancel_explains_itself(here: Here) -> None:
    assert here("cancel", "--help").out == snapshot("""\
Usage: conversation-mcp cancel [OPTIONS] {ID}

  Stop a question that is being answered.

  Its run at the provider is stopped too. Says what was billed, if that is
  known.

Arguments:
  ID <str>  A conversation: its id, the start of it, or last.  [required]

Options:
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --documents PATH   A file or folder the local provider answers from; may be
                     repeated.
  --help             Show this message and exit.
""")


def test_config_explains_itself(here: Here) -> None:
    assert here("config", "--help").out == snapshot("""\
Usage: conversation-mcp config [OPTIONS]

  Show each setting and where it comes from.

  Of a key only the end is shown. In a pipe each setting is a line of name,
  value and origin, with tabs between them.

Options:
  --path             Print the path of the configuration file only.
  --write            Write the file with every setting and its default as a
                     comment.
  --force            With --write: replace the file, keep its values and a
                     copy of it.
  --json             Print one JSON document.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --documents PATH   A file or folder the local provider answers from; may be
                     repeated.
  --tools SETS       Tool sets to switch on, separated by commas. Default:
                     research.
  --help             Show this message and exit.
""")


def test_doctor_explains_itself(here: Here) -> None:
    assert here("doctor", "--help").out == snapshot("""\
Usage: conversation-mcp doctor [OPTIONS]

  Check everything, and show how to set up clients.

  The settings, the folder, the keys, the network's variables and the server
  itself are looked at. With --write the change to the client's file is shown
  first. The exit code is 1 when something fails.

Options:
  --online                        Try the key with a call that costs nothing.
  --write <claude-code|claude-desktop|cursor|vscode|codex>
                                  Put this server into the client's
                                  configuration file instead.
  --yes                           With --write: do not ask.
  --json                          Print one JSON document.
  --logs-dir FOLDER               Where conversations are kept. [env:
                                  CONVERSATION_LOGS_DIR]
  --documents PATH                A file or folder the local provider answers
                                  from; may be repeated.
  --tools SETS                    Tool sets to switch on, separated by commas.
                                  Default: research.
  --help                          Show this message and exit.
""")


def test_serve_explains_itself(here: Here) -> None:
    assert here("serve", "--help").out == snapshot("""\
Usage: conversation-mcp serve [OPTIONS]

  Serve MCP over stdio, as clients start it.

Options:
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --documents PATH   A file or folder the local provider answers from; may be
                     repeated.
  --tools SETS       Tool sets to switch on, separated by commas. Default:
                     research.
  --help             Show this message and exit.
""")


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")
def test_help_reads_the_same_on_a_terminal(here: Here, tmp_path: Path) -> None:
    assert on_terminal(tmp_path, "ask", "--help").out == here("ask", "--help").out.rstrip("\n")


def test_the_version_is_said(here: Here) -> None:
    assert here("--version").out == f"conversation-mcp {__version__}\n"
