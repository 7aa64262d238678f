"""`rename`: a title of one's own."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, Id, LogsDir
from conversation_mcp.cli.setup import settings_from


def rename(
    *,
    conversation_id: Id,
    title: Annotated[
        str, typer.Argument(metavar="TITLE", help='The title. "" takes it away; the first question then stands for it.')
    ],
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Give a conversation a title."""
    from conversation_mcp.cli.changes.labels import set_title

    set_title(settings_from({"logs_dir": logs_dir}).settings, conversation_id, title, as_json=as_json)
