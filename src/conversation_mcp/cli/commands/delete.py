"""`delete`: conversations to the trash, or for good."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, Ids, LogsDir
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.cli.usage import WrongUsageError


def delete(
    *,
    conversation_ids: Ids,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Remove them from the disk and from the index instead.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --for-good: do not ask.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Move conversations to the trash.

    A question that is being answered is waited for. Branches of a conversation stay.
    """
    from conversation_mcp.cli.changes.trash import delete_all

    if yes and not for_good:
        raise WrongUsageError("--yes goes with --for-good.")
    settings = settings_from({"logs_dir": logs_dir}).settings
    raise typer.Exit(delete_all(settings, conversation_ids, for_good=for_good, sure=yes, as_json=as_json))
