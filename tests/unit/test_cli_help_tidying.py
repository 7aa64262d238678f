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

  They are fetched by the ids of their runs; nothing is asked or paid again.
  The command waits for background runs. The exit code is 1 if a question
  still has no answer.

Arguments:
  ID <str>  One conversation: its id, the start of it, last, or /words in it.
            Default: all.

Options:
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --owner NAME       Whose conversations. Default: local, who runs the
                     program.
  --documents PATH   A file or folder to search with the local provider; may
                     be repeated.
  --help             Show this message and exit.
""")


def test_cancel_explains_itself(here: Here) -> None:
    assert here("cancel", "--help").out == snapshot("""\
Usage: conversation-mcp cancel [OPTIONS] {ID}

  Stop a question that is being answered.

  The run at the provider is stopped, too. Prints what was billed, if that is
  known.

Arguments:
  ID <str>  A conversation: its id, the start of it, last, or /words in it.
            [required]

Options:
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --owner NAME       Whose conversations. Default: local, who runs the
                     program.
  --documents PATH   A file or folder to search with the local provider; may
                     be repeated.
  --help             Show this message and exit.
""")


def test_config_explains_itself(here: Here) -> None:
    assert here("config", "--help").out == snapshot("""\
Usage: conversation-mcp config [OPTIONS]

  Show each setting and where it comes from.

  Of keys, only the last characters are shown. In a pipe, each setting is a
  line of name, value and origin, separated by tabs.

Options:
  --path             Print the path of the configuration file only.
  --write            Write the file, with every setting and its default in
                     comments.
  --force            With --write: replace the file, but keep its values and a
                     copy of it.
  --json             Print one JSON document.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --owner NAME       Whose conversations. Default: local, who runs the
                     program.
  --documents PATH   A file or folder to search with the local provider; may
                     be repeated.
  --tools SETS       Tool sets to enable, separated by commas. Default:
                     research.
  --help             Show this message and exit.
""")


def test_doctor_explains_itself(here: Here) -> None:
    assert here("doctor", "--help").out == snapshot("""\
Usage: conversation-mcp doctor [OPTIONS]

  Check everything, and show how to set up clients.

  The checks cover the settings, the folder, the keys, the network's variables
  and the server itself. With --url, they cover a running server as clients
  see it: TLS, token, both eras of the protocol, a round trip. With --write,
  the change to the client's file is shown first. The exit code is 1 if a
  check fails.

Options:
  --online                        Try the key with a call that costs nothing.
  --write <claude-code|claude-desktop|cursor|vscode|codex>
                                  Put this server into the client's
                                  configuration file instead.
  --with-key                      With --write: also write the keys from your
                                  shell's environment.
  --url URL                       Check the running server at this URL
                                  instead, with the token in
                                  CONVERSATION_MCP_TOKEN; with --write: tell
                                  the client of it.
  --yes                           With --write: do not ask.
  --json                          Print one JSON document.
  --logs-dir FOLDER               Where conversations are kept. [env:
                                  CONVERSATION_LOGS_DIR]
  --owner NAME                    Whose conversations. Default: local, who
                                  runs the program.
  --documents PATH                A file or folder to search with the local
                                  provider; may be repeated.
  --tools SETS                    Tool sets to enable, separated by commas.
                                  Default: research.
  --help                          Show this message and exit.
""")


def test_verify_explains_itself(here: Here) -> None:
    assert here("verify", "--help").out == snapshot("""\
Usage: conversation-mcp verify [OPTIONS]

  Check every conversation and the index.

  Reports files that cannot be read, messages out of order, questions without
  an answer, contents that questions name and that are missing or have
  changed, files that do not belong there, and differences between the index
  and the files. Nothing is changed. The exit code is 1 if something is
  broken.

Options:
  --json             Print one JSON document.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --owner NAME       Whose conversations. Default: local, who runs the
                     program.
  --help             Show this message and exit.
""")


def test_index_explains_itself(here: Here) -> None:
    assert here("index", "--help").out == snapshot("""\
Usage: conversation-mcp index [OPTIONS]

  Show where the index is and what it knows.

  Searches use the index. It is built from the files of the conversations
  whenever it is missing, so you can delete it at any time.

Options:
  --rebuild          Delete it and read all conversations again.
  --meaning          Make the vectors for searches by meaning now, instead of
                     in the background.
  --json             Print one JSON document.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --owner NAME       Whose conversations. Default: local, who runs the
                     program.
  --help             Show this message and exit.
""")


def test_serve_explains_itself(here: Here) -> None:
    assert here("serve", "--help").out == snapshot("""\
Usage: conversation-mcp serve [OPTIONS]

  Serve MCP over stdio, as clients start it, or over HTTP.

  Over HTTP, the address is printed on stderr, and /health and /ready tell
  whether the server lives and can work. Without tokens only this machine can
  be served, and everybody on it then has the same conversations.

Options:
  --http                   Serve streamable HTTP instead of stdio, for many
                           clients.
  --host HOST              The address to listen on. Default: 127.0.0.1.
  --port PORT              The port, 0 for a free one. Default: 8765.
                           [0<=x<=65535]
  --path PATH              The path of the URL. Default: /mcp.
  --allowed-host NAME      A name by which clients reach the server; may be
                           repeated.
  --allowed-origin ORIGIN  An origin whose pages may call the server; may be
                           repeated.
  --workers N              How many processes share the port. Default: 1.
                           [1<=x<=64]
  --view                   Also serve the viewer, to each owner behind their
                           token.
  --metrics-port PORT      Serve figures for Prometheus at /metrics on this
                           port, without tokens; further workers use the next.
                           [1<=x<=65535]
  --logs-dir FOLDER        Where conversations are kept. [env:
                           CONVERSATION_LOGS_DIR]
  --owner NAME             Whose conversations. Default: local, who runs the
                           program.
  --documents PATH         A file or folder to search with the local provider;
                           may be repeated.
  --tools SETS             Tool sets to enable, separated by commas. Default:
                           research.
  --help                   Show this message and exit.
""")
