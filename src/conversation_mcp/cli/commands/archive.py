"""The command `archive`: hides conversations from lists."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import on_each, opened, resolved
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, Ids, LogsDir, Owner
from conversation_mcp.cli.output.terminal import put, put_json
from conversation_mcp.cli.setup import settings_from

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.records.models import Conversation, ConversationId


def archive(
    *,
    conversation_ids: Ids,
    undo: Annotated[bool, typer.Option("--undo", help="Bring them back into the lists.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Put conversations away.

    Lists hide archived conversations unless --archived is given. The next question in one brings it back.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    ids = resolved(settings, conversation_ids, archived=undo)

    async def work(app: "App") -> list[str]:
        from conversation_mcp.tooling.tidied import tidied

        done: list[Conversation] = []

        async def one(conversation_id: "ConversationId") -> None:
            changed, _ = await app.tidier.update(conversation_id, archived=not undo)
            done.append(changed)
            if not as_json:
                put(f"{conversation_id}  {'not archived' if undo else 'archived'}")

        problems = await on_each(ids, one)
        if as_json:
            put_json({"conversations": [tidied(each, app).data() for each in done], "problems": problems})
        return problems

    raise typer.Exit(FAILED if opened(settings, work) else 0)
