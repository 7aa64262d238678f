"""The command `cancel`: stops a running question."""

from typing import TYPE_CHECKING

import anyio

from conversation_mcp.cli.options import Documents, Id, LogsDir, Owner
from conversation_mcp.cli.output.terminal import put
from conversation_mcp.cli.questions.standing import standing_of
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of, settings_from

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.settings import Settings


def cancel(*, conversation_id: Id, logs_dir: LogsDir = None, owner: Owner = None, documents: Documents = None) -> None:
    """Stop a question that is being answered.

    The run at the provider is stopped, too. Prints what was billed, if that is known.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner, "documents": documents or None}).settings
    anyio.run(_cancel, settings, resolve(finder_of(settings), conversation_id))


async def _cancel(settings: "Settings", conversation_id: "ConversationId") -> None:
    from conversation_mcp.bootstrap import open_app

    async with open_app(settings) as app:
        put(f"{conversation_id}  {standing_of(await app.watch.stop(conversation_id))}")
