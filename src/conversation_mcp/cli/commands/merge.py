"""The command `merge`: makes a conversation from several others."""

from typing import TYPE_CHECKING

from conversation_mcp.cli.changes.session import opened, resolved
from conversation_mcp.cli.changes.tidied import put_new
from conversation_mcp.cli.options import AsJson, Ids, LogsDir, Owner
from conversation_mcp.cli.setup import settings_from

if TYPE_CHECKING:
    from conversation_mcp.app import App


def merge(*, conversation_ids: Ids, as_json: AsJson = False, logs_dir: LogsDir = None, owner: Owner = None) -> None:
    """Merge two or more conversations into a new one.

    The new one has their messages, in the order of the ids, below the system text of the first. The originals stay as
    they are. No provider is asked.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    originals = resolved(settings, conversation_ids)

    async def work(app: "App") -> None:
        made, notices = await app.tidier.merge(originals)
        put_new(made, app, f"merged from {' and '.join(originals)}", notices, as_json=as_json)

    opened(settings, work)
