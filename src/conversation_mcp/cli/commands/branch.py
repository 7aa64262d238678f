"""The command `branch`: makes a conversation from the beginning of another one."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened, resolved
from conversation_mcp.cli.changes.tidied import put_new
from conversation_mcp.cli.options import AsJson, Id, LogsDir, Owner
from conversation_mcp.cli.setup import settings_from

if TYPE_CHECKING:
    from conversation_mcp.app import App


def branch(
    *,
    conversation_id: Id,
    number: Annotated[
        int,
        typer.Argument(metavar="NUMBER", help="The last message to keep, an answer; show prints its number."),
    ],
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Branch a conversation at an answer.

    The new conversation has the messages up to that answer; the original stays as it is. Messages are numbered from 1,
    the system message included. No provider is asked.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    [original] = resolved(settings, [conversation_id])

    async def work(app: "App") -> None:
        made = await app.tidier.branch(original, number)
        put_new(made, app, f"branched from {original} after message {number}", as_json=as_json)

    opened(settings, work)
