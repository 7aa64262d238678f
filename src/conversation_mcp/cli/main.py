"""The parser of the command line. A command's module is imported when that command is called or completed."""

from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from conversation_mcp import __version__
from conversation_mcp.cli.options import Documents, LogsDir, ToolSets
from conversation_mcp.cli.output.terminal import put
from conversation_mcp.errors import InvalidInputError

COMMANDS = {
    "ask": "Ask a question and keep the answer.",
    "consensus": "Ask several models the same question, side by side.",
    "chat": "Open a prompt that remembers.",
    "consult": "Have a model judge something by a workflow, such as codereview.",
    "show": "Show a conversation.",
    "view": "Show the conversations in a browser.",
    "files": "Show the files that a conversation was asked about.",
    "list": "List the conversations, newest first.",
    "search": "Find conversations by words, and by meaning where there is a model for it.",
    "related": "Show which conversations are near another one, and why.",
    "memories": "Show and find what is remembered.",
    "remember": "Keep something to remember.",
    "forget": "Forget a memory for good.",
    "branch": "Branch a conversation at an answer.",
    "merge": "Merge two or more conversations into a new one.",
    "rename": "Give a conversation a title.",
    "tag": "Add tags to a conversation, or remove them.",
    "archive": "Put conversations away.",
    "delete": "Move conversations to the trash.",
    "prune": "Put old conversations away.",
    "redact": "Replace keys, cards and addresses in what is stored.",
    "owners": "Show whose conversations there are, with counts and cost.",
    "user": "Export, delete or limit what a user keeps.",
    "stats": "Show turns, tokens and cost.",
    "export": "Write conversations to files of other formats.",
    "import": "Bring in conversations from ChatGPT, Claude, Claude Code and others.",
    "copy": "Copy conversations from a folder or database into another.",
    "resume": "Fetch answers that nobody waited for.",
    "cancel": "Stop a question that is being answered.",
    "tokens": "Show what the next question of a conversation carries.",
    "models": "Show which models can be asked, and why others cannot.",
    "workflows": "Show the workflows, and try your own.",
    "config": "Show each setting and where it comes from.",
    "doctor": "Check everything, and show how to set up clients.",
    "verify": "Check every conversation and the index.",
    "index": "Show where the index is and what it knows.",
    "encrypt": "Encrypt the conversations of a folder.",
    "decrypt": "Decrypt the conversations of a folder.",
    "database": "Show or renew the tables of a store in a database.",
    "serve": "Serve MCP over stdio, as clients start it, or over HTTP.",
    "token": "Make, list or revoke the tokens that open a server over HTTP.",
    "trash": "Show, restore or empty the trash.",
}
"""Each command with the first sentence of its help, in the order of `--help`.

A command is the function, or group of commands, with the name of its module.
"""
MODULES = {"list": "list_", "import": "import_"}
"""The modules of commands whose names are builtins or keywords of Python."""


class CommandGroup(TyperGroup):
    """Lists the commands by their sentences and loads only the one that is called."""

    def resolve_command(
        self, ctx: object, args: list[str]
    ) -> tuple[str | None, TyperCommand | TyperGroup | None, list[str]]:
        name, known, rest = super().resolve_command(cast("Any", ctx), args)
        return name, load_command(name) if name and known else None, rest


app = typer.Typer(
    name="conversation-mcp",
    cls=CommandGroup,
    help="Conversations that last, on answer engines that forget. Without a command it serves MCP over stdio.",
    no_args_is_help=False,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def load_command(name: str) -> TyperCommand | TyperGroup:
    """Import a command and return it, ready to run."""
    from conversation_mcp.cli.users.noting import OwnersCommand, OwnersGroup

    module = MODULES.get(name, name)
    found: object = getattr(import_module(f"conversation_mcp.cli.commands.{module}"), module)
    alone = typer.Typer(rich_markup_mode=None)  # typer builds a command only as a part of an app
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name, cls=OwnersGroup)
        for each in found.registered_commands:
            each.cls = OwnersCommand
    else:
        alone.command(name, cls=OwnersCommand)(cast("Any", found))
    return cast("TyperCommand | TyperGroup", typer.main.get_group(alone).commands[name])


def _unloaded() -> None:
    """Stand in for a command until it is loaded; lists show only its name and sentence."""


for _name, _sentence in COMMANDS.items():
    app.command(_name, help=_sentence)(_unloaded)


def _show_version(asked: bool) -> None:
    if asked:
        put(f"conversation-mcp {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
]


@app.callback(invoke_without_command=True)
def default(
    *,
    context: typer.Context,
    logs_dir: LogsDir = None,
    documents: Documents = None,
    tools: ToolSets = None,
    version: Version = False,
) -> None:
    """Serve if no command is given."""
    del version
    given = {"--logs-dir": logs_dir, "--documents": documents, "--tools": tools}
    if context.invoked_subcommand is None:
        from conversation_mcp.cli.commands.serve import serve

        serve(logs_dir=logs_dir, documents=documents, tools=tools)
    # The parser accepts these options before any command, where they would have no effect.
    elif misplaced := [name for name, value in given.items() if value]:
        raise InvalidInputError(f"{misplaced[0]} belongs after {context.invoked_subcommand}, if it has that option.")
