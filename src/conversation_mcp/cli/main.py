"""The commands, each in a module of its own, as one command line."""

from typing import Annotated

import typer

from conversation_mcp import __version__
from conversation_mcp.cli.commands.archive import archive
from conversation_mcp.cli.commands.ask import ask
from conversation_mcp.cli.commands.branch import branch
from conversation_mcp.cli.commands.cancel import cancel
from conversation_mcp.cli.commands.chat import chat
from conversation_mcp.cli.commands.config import config
from conversation_mcp.cli.commands.delete import delete
from conversation_mcp.cli.commands.doctor import doctor
from conversation_mcp.cli.commands.export import export
from conversation_mcp.cli.commands.import_ import import_conversations
from conversation_mcp.cli.commands.index import index
from conversation_mcp.cli.commands.list_ import list_conversations
from conversation_mcp.cli.commands.merge import merge
from conversation_mcp.cli.commands.models import models
from conversation_mcp.cli.commands.prune import prune
from conversation_mcp.cli.commands.rename import rename
from conversation_mcp.cli.commands.resume import resume
from conversation_mcp.cli.commands.search import search
from conversation_mcp.cli.commands.serve import serve
from conversation_mcp.cli.commands.show import show
from conversation_mcp.cli.commands.stats import stats
from conversation_mcp.cli.commands.tag import tag
from conversation_mcp.cli.commands.trash import trash
from conversation_mcp.cli.commands.verify import verify
from conversation_mcp.cli.options import Documents, LogsDir, ToolSets
from conversation_mcp.cli.output.terminal import put
from conversation_mcp.cli.usage import WrongUsageError

app = typer.Typer(
    name="conversation-mcp",
    help="Conversations that last, on answer engines that forget. Without a command it serves MCP over stdio.",
    no_args_is_help=False,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
    """Serve when no command is given."""
    del version
    given = {"--logs-dir": logs_dir, "--documents": documents, "--tools": tools}
    if context.invoked_subcommand is None:
        serve(logs_dir=logs_dir, documents=documents, tools=tools)
    elif misplaced := [name for name, value in given.items() if value]:
        raise WrongUsageError(f"{misplaced[0]} belongs after {context.invoked_subcommand}, where it has that option.")


app.command()(ask)
app.command()(chat)
app.command()(show)
app.command("list")(list_conversations)
app.command()(search)
app.command()(branch)
app.command()(merge)
app.command()(rename)
app.command()(tag)
app.command()(archive)
app.command()(delete)
app.add_typer(trash, name="trash")
app.command()(prune)
app.command()(stats)
app.command()(export)
app.command("import")(import_conversations)
app.command()(resume)
app.command()(cancel)
app.command()(models)
app.command()(config)
app.command()(doctor)
app.command()(verify)
app.command()(index)
app.command()(serve)
