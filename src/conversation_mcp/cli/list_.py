"""`list`: the conversations, newest first."""

from conversation_mcp.cli.listing import show_list
from conversation_mcp.cli.options import AsJson, Limit, LogsDir


def list_conversations(*, limit: Limit = None, as_json: AsJson = False, logs_dir: LogsDir = None) -> None:
    """List the conversations, newest first.

    In a pipe each is a line of id, time of the last change, answers, cost, state and title, with tabs between them.
    """
    show_list(limit, logs_dir, as_json=as_json)
