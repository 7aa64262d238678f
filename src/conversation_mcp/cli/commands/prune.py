"""`prune`: conversations that were not touched for long."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.setup import settings_from


def prune(
    *,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Move what was not updated for so long to the trash: 36h, 90d, 12w, 2y."),
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without, it is only shown.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Put old conversations away.

    With CONVERSATION_TIMEOUT_HOURS, conversations that were not updated for so long are archived. Those with tags or a
    question without an answer are kept. In a pipe each is a line of what is done, id, time of the last change and
    title, with tabs between them.
    """
    from conversation_mcp.cli.changes.prune import prune_old

    settings = settings_from({"logs_dir": logs_dir}).settings
    raise typer.Exit(prune_old(settings, older_than, apply=apply, as_json=as_json))
