"""The command `rename`: sets a title."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened, resolved
from conversation_mcp.cli.changes.tidied import put_tidied
from conversation_mcp.cli.options import AsJson, Id, LogsDir, Owner
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.records.titles import title_of_conversation

if TYPE_CHECKING:
    from conversation_mcp.app import App


def rename(
    *,
    conversation_id: Id,
    title: Annotated[
        str, typer.Argument(metavar="TITLE", help='The title. "" removes it; then the first question is the title.')
    ],
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Give a conversation a title."""
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    [wanted] = resolved(settings, [conversation_id])

    async def work(app: "App") -> None:
        renamed, notices = await app.tidier.update(wanted, title=title)
        put_tidied(renamed, app, f"is called: {title_of_conversation(renamed)}", notices, as_json=as_json)

    opened(settings, work)
