"""`merge`: a conversation with the messages of others."""

from conversation_mcp.cli.options import AsJson, Ids, LogsDir
from conversation_mcp.cli.setup import settings_from


def merge(*, conversation_ids: Ids, as_json: AsJson = False, logs_dir: LogsDir = None) -> None:
    """Merge two or more conversations into a new one.

    Their messages stand in it one after the other, in the order of the ids, under the system text of the first. The
    originals stay as they are. Asks nothing.
    """
    from conversation_mcp.cli.changes.labels import merge_into_one

    merge_into_one(settings_from({"logs_dir": logs_dir}).settings, conversation_ids, as_json=as_json)
