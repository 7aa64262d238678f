"""The command `memories`: lists what is remembered, and finds it."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened, resolved
from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.terminal import is_terminal, put, put_fields, put_json, say
from conversation_mcp.cli.setup import settings_from

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.tooling.memories import MemoriesFound

LIMIT = 100


def memories(
    *,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What to look for. Default: all, newest first.", show_default=False)
    ] = "",
    conversation: Annotated[
        str | None, typer.Option("--conversation", "-c", metavar="ID", help="Only of this conversation.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Only with this tag; may be repeated.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=LIMIT, help="How many.")] = 20,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Show and find what is remembered.

    Best first for a query, else newest first. In a pipe, each is a line of id, conversation, time and text, separated
    by tabs.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    home = resolved(settings, [conversation])[0] if conversation else None

    async def work(app: "App") -> "MemoriesFound":
        from conversation_mcp.records.found import WantedMemories
        from conversation_mcp.tooling.memories import MemoriesFound, shown

        wanted = WantedMemories(query=query, conversation_id=home, tags=tuple(tag or ()))
        ranked, notices = await app.open_remembering().memories.search(wanted, limit)
        found = (shown(each.found, each.similarity, each.by) if query else shown(each.found) for each in ranked)
        return MemoriesFound.of(results=tuple(found), notices=notices or None)

    found = opened(settings, work)
    if as_json:
        put_json(found.data())
    elif is_terminal():
        from conversation_mcp.tooling.memories import render_found

        put(render_found(found))
    else:
        for notice in found.notices or ():
            say(f"Notice: {notice}.")
        lines = ((each.memory_id, each.conversation_id, each.created_at, each.content) for each in found.results)
        put_fields(lines)
