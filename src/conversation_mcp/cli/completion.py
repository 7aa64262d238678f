"""What the shell offers when Tab is pressed in place of an id."""

from contextlib import suppress
from pathlib import Path

import typer

from conversation_mcp.cli.loading import folder_from
from conversation_mcp.errors import ConversationMCPError

OFFERED = 50


def complete_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return ids with their titles, newest first, that begin as typed; nothing where the folder cannot be read."""
    from conversation_mcp.conversations.listing import newest  # noqa: PLC0415 -- only Tab needs it

    logs_dir: object = context.params.get("logs_dir")
    with suppress(ConversationMCPError):
        folder = folder_from(Path(str(logs_dir)) if logs_dir else None)
        summaries = newest(folder, None if incomplete else OFFERED).summaries
        offers = [(summary.conversation_id, summary.title) for summary in summaries]
        if offers:
            offers.insert(0, ("last", offers[0][1]))
        return [offer for offer in offers if offer[0].startswith(incomplete)][:OFFERED]
    return []
