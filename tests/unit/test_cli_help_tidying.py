"""The help of the commands that look after what is kept and how the program is set up."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.cli import Here


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    monkeypatch.setenv("COLUMNS", "80")
    return Here(capsys, monkeypatch, tmp_path)


def test_resume_explains_itself(here: Here) -> None:
    assert here("resume", "--help").out == snapshot("""\
Usage: conversation-mcp resume [OPTIONS] [ID]

  Fetch answers that nobody waited for.

  They are found by the ids of their runs; nothing is asked or paid again. A
  run in the background is waited for. The exit code is 1 when a question
  still has no answer.

Arguments:
  ID <str>  One conversation: its id, the start of it, last, or /words in it.
            Default: all.

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
  ID <str>  A conversation: its id, the start of it, last, or /words in it.
            [required]

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
  --with-key                      With --write: also the keys that your
                                  shell's environment has.
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


def test_verify_explains_itself(here: Here) -> None:
    assert here("verify", "--help").out == snapshot("""\
Usage: conversation-mcp verify [OPTIONS]

  Check every conversation and the index.

  Files that cannot be read, messages out of order, questions without an
  answer, files that do not belong there, and what the index says against what
  the files say. Nothing is changed. The exit code is 1 when something is
  broken.

Options:
  --json             Print one JSON document.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --help             Show this message and exit.
""")


def test_index_explains_itself(here: Here) -> None:
    assert here("index", "--help").out == snapshot("""\
Usage: conversation-mcp index [OPTIONS]

  Show where the index is and what it knows.

  Conversations are found with it. It is made from their files whenever it is
  missing, so it can be deleted at any time.

Options:
  --rebuild          Throw it away and read all conversations again.
  --json             Print one JSON document.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --help             Show this message and exit.
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
