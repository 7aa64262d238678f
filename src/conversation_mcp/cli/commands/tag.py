"""The command `tag`: adds and removes tags."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened, resolved
from conversation_mcp.cli.changes.tidied import put_tidied
from conversation_mcp.cli.options import AsJson, Id, LogsDir, Owner
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.text import fold

if TYPE_CHECKING:
    from conversation_mcp.app import App


def tag(
    *,
    conversation_id: Id,
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="TAGS", help="Tags to add. Without any, the present tags are shown.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove these tags instead.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Add tags to a conversation, or remove them.

    Tags are not case-sensitive. A conversation with tags is never pruned.
    """
    if remove and not tags:
        raise InvalidInputError("--remove needs the tags to remove.")
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    [wanted] = resolved(settings, [conversation_id])
    given = tags or ()
    gone = {fold(" ".join(each.split())) for each in given} if remove else set[str]()

    def retag(known: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(each for each in known if fold(each) not in gone) if remove else (*known, *given)

    async def work(app: "App") -> None:
        tagged, notices = await app.tidier.update(wanted, retag=retag)
        what = f"tags: {', '.join(tagged.tags)}" if tagged.tags else "no tags"
        put_tidied(tagged, app, what, notices, as_json=as_json)

    opened(settings, work)
