"""`branch`: a conversation that begins like another one."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, Id, LogsDir
from conversation_mcp.cli.setup import settings_from


def branch(
    *,
    conversation_id: Id,
    number: Annotated[
        int,
        typer.Argument(metavar="NUMBER", help="The last message to take along, an answer; show has its number."),
    ],
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Branch a conversation at an answer.

    The new conversation has the messages up to that one, and the original stays as it is. Messages are counted from 1,
    the system message too. Asks nothing.
    """
    from conversation_mcp.cli.changes.labels import branch_after

    branch_after(settings_from({"logs_dir": logs_dir}).settings, conversation_id, number, as_json=as_json)
