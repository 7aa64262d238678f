"""What the shell offers when Tab is pressed in place of an id."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from conversation_mcp.cli.ids import LAST
from conversation_mcp.cli.loading import folder_from
from conversation_mcp.errors import ConversationMCPError

if TYPE_CHECKING:
    from conversation_mcp.stores.index.base import Found

OFFERED = 50


def complete_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return ids with their titles, newest first, that begin as typed; nothing where the folder cannot be read."""
    from conversation_mcp.conversations.listing import newest  # noqa: PLC0415 -- only Tab needs it

    logs_dir: object = context.params.get("logs_dir")
    archived = bool(context.params.get("undo"))
    with suppress(ConversationMCPError):
        folder = folder_from(Path(str(logs_dir)) if logs_dir else None)
        if LAST.startswith(incomplete):
            found = newest(folder, OFFERED, archived=archived).found
            last = [(LAST, found[0].facts.title)] if found else []
            return last if incomplete else last + _offers(found)
        return _offers(newest(folder, OFFERED, begins=incomplete, archived=archived).found)
    return []


def _offers(found: "Iterable[Found]") -> list[tuple[str, str]]:
    return [(each.facts.conversation_id, each.facts.title) for each in found]
