"""The command `list`: lists conversations, with filters."""

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
    Owner,
    Provider,
    StateOption,
    Tags,
    Tool,
)
from conversation_mcp.cli.selection.filters import chosen
from conversation_mcp.cli.selection.lists import show_list
from conversation_mcp.errors import InvalidInputError
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
    by_size: Annotated[bool, typer.Option("--largest", help="Show the largest files first; without filters.")] = False,
    paths: Annotated[
        bool, typer.Option("--paths", help="Print only the path of each conversation's file, one per line.")
    ] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """List the conversations, newest first.

    Archived ones are shown only with --archived. In a pipe, each conversation is a line of id, time of the last change,
    number of answers, cost, state, title, tags and the conversation that it was branched from, separated by tabs.
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
        raise InvalidInputError("--paths and --json cannot be combined; the JSON has the paths.")
    if by_size and (cursor or wanted != Wanted()):
        raise InvalidInputError("--largest cannot be combined with filters or --cursor.")
    given = None if wanted == Wanted() else wanted  # without filters, the plain list needs no index
    show_list(limit, logs_dir, as_json=as_json, paths=paths, wanted=given, cursor=cursor, by_size=by_size, owner=owner)
