"""`cancel`: an end to a question that is being answered."""

from conversation_mcp.cli.options import Documents, Id, LogsDir
from conversation_mcp.cli.setup import settings_from


def cancel(*, conversation_id: Id, logs_dir: LogsDir = None, documents: Documents = None) -> None:
    """Stop a question that is being answered.

    Its run at the provider is stopped too. Says what was billed, if that is known.
    """
    from conversation_mcp.cli.questions.pending import cancel_turn

    loaded = settings_from({"logs_dir": logs_dir, "documents": documents or None})
    cancel_turn(loaded.settings, conversation_id)
