"""`trash`: deleted conversations, brought back or removed for good."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.cli.usage import WrongUsageError

trash = typer.Typer()
TrashedIds = Annotated[
    list[str], typer.Argument(metavar="ID", help="Conversations in the trash: ids, starts of them, or last.")
]


@trash.callback(invoke_without_command=True)
def show_trash(*, context: typer.Context, as_json: AsJson = False, logs_dir: LogsDir = None) -> None:
    """Show, restore or empty the trash.

    Without a command they are listed, the latest deletion first. In a pipe each is a line of id, time of the deletion
    and title, with tabs between them.
    """
    if context.invoked_subcommand is not None:
        if as_json or logs_dir:
            raise WrongUsageError(f"options of trash {context.invoked_subcommand} belong after it.")
        return
    from conversation_mcp.cli.changes.trash import list_trash

    list_trash(settings_from({"logs_dir": logs_dir}).settings, as_json=as_json)


@trash.command()
def restore(*, conversation_ids: TrashedIds, as_json: AsJson = False, logs_dir: LogsDir = None) -> None:
    """Bring conversations back as they were when they were last deleted."""
    from conversation_mcp.cli.changes.trash import restore_all

    settings = settings_from({"logs_dir": logs_dir}).settings
    raise typer.Exit(restore_all(settings, conversation_ids, as_json=as_json))


@trash.command()
def empty(
    *,
    conversation_ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Only these, by ids, starts of them, or last.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Remove what is in the trash for good, from the disk and from the index."""
    from conversation_mcp.cli.changes.trash import empty_trash

    settings = settings_from({"logs_dir": logs_dir}).settings
    empty_trash(settings, conversation_ids or (), sure=yes, as_json=as_json)
