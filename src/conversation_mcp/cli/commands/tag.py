"""`tag`: words to find a conversation by."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, Id, LogsDir
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.cli.usage import WrongUsageError


def tag(
    *,
    conversation_id: Id,
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="TAGS", help="Tags to add. Without any, those it has are shown.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove these tags instead.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Add tags to a conversation, or remove them.

    Upper and lower case do not count. A conversation with tags is never pruned.
    """
    from conversation_mcp.cli.changes.labels import set_tags

    if remove and not tags:
        raise WrongUsageError("--remove needs the tags to remove.")
    settings = settings_from({"logs_dir": logs_dir}).settings
    set_tags(settings, conversation_id, tags or (), remove=remove, as_json=as_json)
