"""docs/cli.md: the help of every command, as a terminal of 100 columns shows it."""

from collections.abc import Iterator
from typing import Any, cast

import typer.main
from tests.reference.markdown import MADE_BY, document

from conversation_mcp.cli.main import app

COLUMNS = 100
INTRODUCTION = """\
Each command as its `--help` shows it. Exit codes: 0 done, 1 what was asked for failed (the error is on stderr), 2 a wrong
argument or setting. Options win over environment variables, these over the configuration file; see
[settings.md](settings.md)."""


def commands_page() -> str:
    """Return the page."""
    return document(
        "# Command line", MADE_BY, INTRODUCTION, *_helps(typer.main.get_command(app), "conversation-mcp", None)
    )


def _helps(command: Any, name: str, parent: Any) -> Iterator[str]:
    """Yield a heading and the help of the command, then those of the commands in it; typer hides their classes."""
    context = command.make_context(name, [], parent, resilient_parsing=True, terminal_width=COLUMNS)
    title = cast("str", context.command_path)
    level = "##" if parent is None else "###"
    lines = [line.rstrip() for line in cast("str", command.get_help(context)).splitlines()]
    yield f"{level} {title}"
    yield "```text\n" + "\n".join(lines).strip("\n") + "\n```"
    for inner in getattr(command, "commands", {}):
        _, loaded, _ = command.resolve_command(context, [inner])
        yield from _helps(loaded, inner, context)
