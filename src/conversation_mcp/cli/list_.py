"""`list`: the conversations, newest first."""

from conversation_mcp.cli.filters import chosen
from conversation_mcp.cli.listing import show_list
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
from conversation_mcp.stores.index.base import Wanted


def list_conversations(
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
    show_list(limit, logs_dir, as_json=as_json, wanted=None if wanted == Wanted() else wanted, cursor=cursor)
