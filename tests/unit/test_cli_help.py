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
  --documents PATH      A file or folder to search with the local provider;
                        may be repeated.
  --tools SETS          Tool sets to enable, separated by commas. Default:
                        research.
  --version             Show the version and exit.
  --install-completion  Install completion for the current shell.
  --show-completion     Show completion for the current shell, to copy it or
                        customize the installation.
  --help                Show this message and exit.

Commands:
  ask        Ask a question and keep the answer.
  consensus  Ask several models the same question, side by side.
  chat       Open a prompt that remembers.
  consult    Have a model judge something by a workflow, such as codereview.
  show       Show a conversation.
  view       Show the conversations in a browser.
  files      Show the files that a conversation was asked about.
  list       List the conversations, newest first.
  search     Find conversations by words, and by meaning where there is a...
  related    Show which conversations are near another one, and why.
  memories   Show and find what is remembered.
  remember   Keep something to remember.
  forget     Forget a memory for good.
  branch     Branch a conversation at an answer.
  merge      Merge two or more conversations into a new one.
  rename     Give a conversation a title.
  tag        Add tags to a conversation, or remove them.
  archive    Put conversations away.
  delete     Move conversations to the trash.
  prune      Put old conversations away.
  redact     Replace keys, cards and addresses in what is stored.
  owners     Show whose conversations there are, with counts and cost.
  user       Export, delete or limit what a user keeps.
  stats      Show turns, tokens and cost.
  export     Write conversations to files of other formats.
  import     Bring in conversations from ChatGPT, Claude, Claude Code and...
  copy       Copy conversations from a folder or database into another.
  resume     Fetch answers that nobody waited for.
  cancel     Stop a question that is being answered.
  tokens     Show what the next question of a conversation carries.
  models     Show which models can be asked, and why others cannot.
  workflows  Show the workflows, and try your own.
  config     Show each setting and where it comes from.
  doctor     Check everything, and show how to set up clients.
  verify     Check every conversation and the index.
  index      Show where the index is and what it knows.
  encrypt    Encrypt the conversations of a folder.
  decrypt    Decrypt the conversations of a folder.
  database   Show or renew the tables of a store in a database.
  serve      Serve MCP over stdio, as clients start it, or over HTTP.
  token      Make, list or revoke the tokens that open a server over HTTP.
  trash      Show, restore or empty the trash.
""")


def test_ask_explains_itself(here: Here) -> None:
    assert here("ask", "--help").out == snapshot("""\
Usage: conversation-mcp ask [OPTIONS] [QUESTION]...

  Ask a question and keep the answer.

  It opens a conversation, or continues one with -c. A question that gets no
  answer is kept, too. Text from a pipe or a file is added below the question.
  In a pipe, only the answer and its sources go to stdout.

Arguments:
  QUESTION <list[str]>  The question. Text from a pipe or a file goes with it;
                        - waits for that as long as it takes.

Options:
  -c, --continue ID               Follow up in this conversation: its id, the
                                  start of it, last, or /words in it.
  --continue-from ID              Open a conversation that continues this one,
                                  for example a full one: an ID as for -c.
  -f, --file PATH                 Send a file, lines as in app.py:10-80, a
                                  folder, a glob, git:staged, or a pipe with
                                  -; may be repeated.
  --image PATH                    Send an image, or a pipe with -, to a model
                                  that sees; may be repeated.
  -i, --interactive               Open a prompt for more questions in the
                                  conversation.
  -s, --system TEXT               The system text of a new conversation.
  --deep                          Research thoroughly: minutes, many sources,
                                  more cost.
  --chat                          Talk to a model, without a search.
  -m, --model NAME                A preset (fast to xhigh), a model,
                                  provider:model, auto:fast, auto:balanced,
                                  auto:deep, or local.
  --recency <hour|day|week|month|year>
                                  Only pages this recent.
  --domain DOMAIN                 Only this domain, or with a leading -
                                  exclude it; may be repeated.
  --after, --since DATE           Only pages from after this day: 2026-01-31,
                                  or 2d ago.
  --before, --until DATE          Only pages from before this day.
  --academic                      Prefer scholarly sources.
  --related                       Also get related questions.
  --effort <minimal|low|medium|high|max>
                                  How hard the research or the model tries;
                                  goes with --deep or --chat.
  --show-thinking                 Also show the model's reasoning, if it gives
                                  any.
  --json                          Print the result as one JSON document.
  --logs-dir FOLDER               Where conversations are kept. [env:
                                  CONVERSATION_LOGS_DIR]
  --owner NAME                    Whose conversations. Default: local, who
                                  runs the program.
  --documents PATH                A file or folder to search with the local
                                  provider; may be repeated.
  --help                          Show this message and exit.
""")


def test_show_explains_itself(here: Here) -> None:
    assert here("show", "--help").out == snapshot("""\
Usage: conversation-mcp show [OPTIONS] {ID}

  Show a conversation.

  Prints questions and answers with their sources and cost, and questions
  without an answer. No provider is asked.

Arguments:
  ID <str>  A conversation: its id, the start of it, last, or /words in it.
            [required]

Options:
  --raw              Print the Markdown as it is.
  --json             Print the file as it is.
  --paths, --path    Print the path of the file, and nothing else.
  --no-pager         Do not page a text longer than the screen.
  --logs-dir FOLDER  Where conversations are kept. [env:
                     CONVERSATION_LOGS_DIR]
  --owner NAME       Whose conversations. Default: local, who runs the
                     program.
  --help             Show this message and exit.
""")


def test_list_explains_itself(here: Here) -> None:
    assert here("list", "--help").out == snapshot("""\
Usage: conversation-mcp list [OPTIONS]

  List the conversations, newest first.

  Archived ones are shown only with --archived. In a pipe, each conversation
  is a line of id, time of the last change, number of answers, cost, state,
  title, tags and the conversation that it was branched from, separated by
  tabs.

Options:
  --limit N                       How many to show, 0 for all. Default: 20 on
                                  a terminal, all in a pipe.  [x>=0]
  --cursor CURSOR                 Continue after a list: the nextCursor of its
                                  --json output.
  --tool NAME                     Only if a question was asked with this tool.
  --provider NAME                 Only if this provider was asked.
  --model NAME                    Only if this model or preset answered.
  --tag TAG                       Only with this tag; may be repeated.
  --state <running|interrupted|failed|archived>
                                  Only with this state of the last question,
                                  or archived.
  --archived                      Only archived ones, which are hidden
                                  otherwise.
  --after, --since TIME           Only if changed since then: a day or time in
                                  UTC, an age such as 36h or 2d, today or
                                  yesterday.
  --before, --until TIME          Only if changed before then.
  --largest                       Show the largest files first; without
                                  filters.
  --paths                         Print only the path of each conversation's
                                  file, one per line.
  --json                          Print one JSON document.
  --logs-dir FOLDER               Where conversations are kept. [env:
                                  CONVERSATION_LOGS_DIR]
  --owner NAME                    Whose conversations. Default: local, who
                                  runs the program.
  --help                          Show this message and exit.
""")


def test_search_explains_itself(here: Here) -> None:
    assert here("search", "--help").out == snapshot("""\
Usage: conversation-mcp search [OPTIONS] {WORDS}...

  Find conversations by words, and by meaning where there is a model for it.

  Searches titles, tags, questions and answers. The best match comes first;
  each is shown with the matching passage and the number of its message.
  Without a match, the exit code is 1. In a pipe, each match is a line as list
  prints it, followed by the number and the passage.

Arguments:
  WORDS <list[str]>  '"a phrase"' in quotes of its own must occur; begin* is a
                     beginning.  [required]

Options:
  --words                         Find by words alone, not by meaning.
  --limit N                       How many to show, 0 for all. Default: 20 on
                                  a terminal, all in a pipe.  [x>=0]
  --cursor CURSOR                 Continue after a list: the nextCursor of its
                                  --json output.
  --tool NAME                     Only if a question was asked with this tool.
  --provider NAME                 Only if this provider was asked.
  --model NAME                    Only if this model or preset answered.
  --tag TAG                       Only with this tag; may be repeated.
  --state <running|interrupted|failed|archived>
                                  Only with this state of the last question,
                                  or archived.
  --archived                      Only archived ones, which are hidden
                                  otherwise.
  --after, --since TIME           Only if changed since then: a day or time in
                                  UTC, an age such as 36h or 2d, today or
                                  yesterday.
  --before, --until TIME          Only if changed before then.
  --json                          Print one JSON document.
  --logs-dir FOLDER               Where conversations are kept. [env:
                                  CONVERSATION_LOGS_DIR]
  --owner NAME                    Whose conversations. Default: local, who
                                  runs the program.
  --help                          Show this message and exit.
""")


def test_stats_explains_itself(here: Here) -> None:
    assert here("stats", "--help").out == snapshot("""\
Usage: conversation-mcp stats [OPTIONS]

  Show turns, tokens and cost.

  As for a daily limit, questions that were charged but never answered count,
  and so do archived conversations and those in the trash. If a provider
  reports no cost, an estimate counts, marked with ~. Input that a provider
  read from its cache is shown as a share of the tokens in, and estimated at
  its own price. In a pipe, each row is a line of name, turns, questions
  without an answer, tokens in and out, and cost, separated by tabs; with --by
  conversation, the title comes last.

Options:
  --by <day|tool|provider|model|conversation>
                                  What each row stands for; days are in UTC.
                                  [default: day]
  --since, --after TIME           Only turns asked or answered since then,
                                  such as 2d.
  --json                          Print one JSON document.
  --logs-dir FOLDER               Where conversations are kept. [env:
                                  CONVERSATION_LOGS_DIR]
  --owner NAME                    Whose conversations. Default: local, who
                                  runs the program.
  --help                          Show this message and exit.
""")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")
def test_help_reads_the_same_on_a_terminal(here: Here, tmp_path: Path) -> None:
    assert on_terminal(tmp_path, "ask", "--help").out == here("ask", "--help").out.rstrip("\n")


def test_the_version_is_said(here: Here) -> None:
    assert here("--version").out == f"conversation-mcp {__version__}\n"
