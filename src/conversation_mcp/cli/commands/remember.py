"""The command `remember`: keeps a memory."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened, resolved
from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.terminal import put, put_json
from conversation_mcp.cli.setup import settings_from

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.tooling.memories import StoredMemory


def remember(
    *,
    content: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember.")],
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="ID", help="Its conversation. Default: a new one."),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag; may be repeated.")] = None,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Keep something to remember.

    The very same text is not kept twice; those that say nearly the same are named.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    home = resolved(settings, [conversation])[0] if conversation else None

    async def work(app: "App") -> "StoredMemory":
        from conversation_mcp.tooling.memories import stored

        remembering = app.open_remembering()
        kept = await remembering.memories.store(
            content, remembering.anonymous_id, conversation_id=home, tags=tuple(tag or ())
        )
        return stored(kept)

    result = opened(settings, work)
    if as_json:
        put_json(result.data())
    else:
        from conversation_mcp.tooling.memories import render_stored

        put(render_stored(result))
