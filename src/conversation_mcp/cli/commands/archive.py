"""`archive`: conversations that lists leave out."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, Ids, LogsDir
from conversation_mcp.cli.setup import settings_from


def archive(
    *,
    conversation_ids: Ids,
    undo: Annotated[bool, typer.Option("--undo", help="Bring them back into the lists.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Put conversations away.

    Lists leave them out unless they are asked for. The next question of one brings it back.
    """
    from conversation_mcp.cli.changes.labels import set_archived

    settings = settings_from({"logs_dir": logs_dir}).settings
    raise typer.Exit(set_archived(settings, conversation_ids, archived=not undo, as_json=as_json))
