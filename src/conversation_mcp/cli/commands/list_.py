"""`list`: the conversations, newest first."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import (
    After,
    Archived,
    AsJson,
    Before,
    Cursor,
    Limit,
    LogsDir,
    Model,
    Provider,
    StateOption,
    Tags,
    Tool,
)
from conversation_mcp.cli.selection.filters import chosen
from conversation_mcp.cli.selection.lists import show_list
from conversation_mcp.cli.usage import WrongUsageError
from conversation_mcp.records.found import Wanted


def list_(
    *,
    limit: Limit = None,
    cursor: Cursor = None,
    tool: Tool = None,
    provider: Provider = None,
    model: Model = None,
    tag: Tags = None,
    state: StateOption = None,
    archived: Archived = False,
    after: After = None,
    before: Before = None,
    by_size: Annotated[bool, typer.Option("--largest", help="The largest files first; takes no filters.")] = False,
    paths: Annotated[
        bool, typer.Option("--paths", help="Print the path of each conversation's file, a line each.")
    ] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """List the conversations, newest first.

    Archived ones only with --archived. In a pipe each is a line of id, time of the last change, answers, cost, state,
    title, tags and the conversation that it is a branch of, with tabs between them.
    """
    wanted = chosen(
        state=state,
        archived=archived,
        after=after,
        before=before,
        tags=tag or (),
        tool=tool,
        provider=provider,
        model=model,
    )
    if paths and as_json:
        raise WrongUsageError("--json has the paths; give one of --paths and --json.")
    if by_size and (cursor or wanted != Wanted()):
        raise WrongUsageError("--largest takes no filters and no --cursor.")
    given = None if wanted == Wanted() else wanted
    show_list(limit, logs_dir, as_json=as_json, paths=paths, wanted=given, cursor=cursor, by_size=by_size)
