"""`branch`: a conversation that begins like another one."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened, resolved
from conversation_mcp.cli.changes.tidied import put_new
from conversation_mcp.cli.options import AsJson, Id, LogsDir
from conversation_mcp.cli.setup import settings_from

if TYPE_CHECKING:
    from conversation_mcp.app import App


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
    settings = settings_from({"logs_dir": logs_dir}).settings
    [original] = resolved(settings, [conversation_id])

    async def work(app: "App") -> None:
        made = await app.tidier.branch(original, number)
        put_new(made, app, f"branched from {original} after message {number}", as_json=as_json)

    opened(settings, work)
