"""The command `show`: prints a conversation, or pages it on a terminal."""

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from typing import Annotated

import typer

from conversation_mcp.cli.options import Id, LogsDir, Owner
from conversation_mcp.cli.output.rendered import blocks_of, lines_of
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, put
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.conversations.markdown import markdown
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.codec import decode

PAGER = "less"
LESS_OPTIONS = "-FRX"
"""Show colours, and do not page a text that fits on the screen; git sets the same if LESS is not set."""


def show(
    *,
    conversation_id: Id,
    raw: Annotated[bool, typer.Option("--raw", help="Print the Markdown as it is.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the file as it is.")] = False,
    paths: Annotated[
        bool, typer.Option("--paths", "--path", help="Print the path of the file, and nothing else.")
    ] = False,
    no_pager: Annotated[bool, typer.Option("--no-pager", help="Do not page a text longer than the screen.")] = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Show a conversation.

    Prints questions and answers with their sources and cost, and questions without an answer. No provider is asked.
    """
    wanted = [name for name, given in (("--raw", raw), ("--json", as_json), ("--paths", paths)) if given]
    if len(wanted) > 1:
        raise InvalidInputError(f"{' and '.join(wanted)} cannot be combined.")
    finder = finder_from(logs_dir, owner)
    chosen = resolve(finder, conversation_id)
    location, body = finder.location(chosen), finder.read(chosen)
    if paths:
        put(location)
        return
    conversation = decode(body, location, chosen)  # for --json as well: a damaged file is an error, not output
    if as_json:
        _put_bytes(body)
        return
    text = markdown(conversation)
    if raw or not is_terminal():
        put(text, end="")
    else:
        _render(text, pager=not no_pager)


def _put_bytes(body: bytes) -> None:
    """Print the file byte for byte; on a terminal, without control characters."""
    if is_terminal():
        put(body.decode(errors="replace"), end="")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def _render(text: str, *, pager: bool) -> None:
    screen = console()
    lines = lines_of(blocks_of(printable(text)), screen)
    rendered = "".join(f"{line}\n" for line in lines)
    if not (pager and len(lines) >= screen.height and sys.stdin.isatty() and _page(rendered)):
        sys.stdout.write(rendered)
        sys.stdout.flush()


def _page(text: str) -> bool:
    """Show the text in the user's pager; return False if there is none."""
    command = shlex.split(os.environ.get("PAGER", PAGER))
    if not command or shutil.which(command[0]) is None:
        return False
    environment = {"LESS": LESS_OPTIONS, **os.environ}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as process:
        with suppress(OSError, KeyboardInterrupt):
            process.communicate(text.encode(errors="replace"))
        while process.poll() is None:
            with suppress(KeyboardInterrupt):  # the pager gets Ctrl-C too and keeps running
                process.wait()
    return True
