"""The commands and their options."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp import __version__
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.settings import LoadedSettings, config_path, load_settings


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"conversation-mcp {__version__}")
        raise typer.Exit


LogsDir = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where conversations are kept. [env: CONVERSATION_LOGS_DIR]")
]
Documents = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="A file or folder the local provider answers from; may be repeated."),
]
ToolSets = Annotated[
    str | None, typer.Option(metavar="SETS", help="Tool sets to switch on, separated by commas. Default: research.")
]

Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
]

app = typer.Typer(
    name="conversation-mcp",
    help="Conversations that last, on answer engines that forget. Without a command it serves MCP over stdio.",
    no_args_is_help=False,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def run() -> int:
    """Run the command line and return the exit code: 0 done, 1 failed, 2 wrong usage."""
    try:
        app(standalone_mode=True)
    except ConversationMCPError as error:
        say(error.sentence())
        return 1
    return 0


def say(text: str) -> None:
    """Print a line for the person, not for the program behind the pipe."""
    typer.echo(text, err=True)


def settings_from(options: Mapping[str, object]) -> LoadedSettings:
    """Return the settings, with the warnings about their sources said on stderr."""
    loaded = load_settings(options, os.environ, config_path(), Path.cwd())
    for warning in loaded.warnings:
        say(f"Warning: {warning}.")
    return loaded


@app.callback(invoke_without_command=True)
def default(
    context: typer.Context,
    logs_dir: LogsDir = None,
    documents: Documents = None,
    tools: ToolSets = None,
    version: Version = False,  # noqa: FBT002 -- a flag
) -> None:
    """Serve when no command is given."""
    del version
    if context.invoked_subcommand is None:
        serve(logs_dir, documents, tools)


@app.command()
def serve(logs_dir: LogsDir = None, documents: Documents = None, tools: ToolSets = None) -> None:
    """Serve MCP over stdio; this is what client configurations call."""
    loaded = settings_from({"logs_dir": logs_dir, "documents": documents or None, "tools": tools})
    if sys.stdin.isatty():
        say(
            "conversation-mcp serves MCP over stdio and waits for a client; end it with Ctrl-C. "
            "conversation-mcp --help shows the other commands."
        )
    from conversation_mcp.cli.serving import serve_until_closed  # noqa: PLC0415 -- the SDK takes a second to import

    serve_until_closed(loaded.settings)


@app.command()
def resume(
    conversation_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One conversation; default: all.")
    ] = None,
    logs_dir: LogsDir = None,
    documents: Documents = None,
) -> None:
    """Fetch answers that no server waited for, by the ids of their runs; nothing is asked or paid again."""
    from conversation_mcp.cli.pending import resume_turns  # noqa: PLC0415 -- keeps the other commands fast

    loaded = settings_from({"logs_dir": logs_dir, "documents": documents or None})
    raise typer.Exit(0 if resume_turns(loaded.settings, conversation_id) else 1)


@app.command()
def cancel(
    conversation_id: Annotated[str, typer.Argument(metavar="ID", help="The conversation whose question to stop.")],
    logs_dir: LogsDir = None,
    documents: Documents = None,
) -> None:
    """Stop the question that is being answered, at its provider too, and say what was billed if that is known."""
    from conversation_mcp.cli.pending import cancel_turn  # noqa: PLC0415 -- keeps the other commands fast

    loaded = settings_from({"logs_dir": logs_dir, "documents": documents or None})
    cancel_turn(loaded.settings, conversation_id)


@app.command()
def doctor(logs_dir: LogsDir = None, documents: Documents = None, tools: ToolSets = None) -> None:
    """Check the settings, the folder, the keys and the server itself."""
    from conversation_mcp.cli.doctor import examine  # noqa: PLC0415 -- nothing else needs its parts

    loaded = settings_from({"logs_dir": logs_dir, "documents": documents or None, "tools": tools})
    raise typer.Exit(0 if examine(loaded) else 1)
