"""`resume`: answers that nobody waited for."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import Documents, LogsDir
from conversation_mcp.cli.selection.completion import complete_ids
from conversation_mcp.cli.setup import settings_from


def resume(
    *,
    conversation_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="One conversation: its id, the start of it, last, or /words in it. Default: all.",
            autocompletion=complete_ids,
        ),
    ] = None,
    logs_dir: LogsDir = None,
    documents: Documents = None,
) -> None:
    """Fetch answers that nobody waited for.

    They are found by the ids of their runs; nothing is asked or paid again. A run in the background is waited for. The
    exit code is 1 when a question still has no answer.
    """
    from conversation_mcp.cli.questions.pending import resume_turns

    loaded = settings_from({"logs_dir": logs_dir, "documents": documents or None})
    raise typer.Exit(resume_turns(loaded.settings, conversation_id))
