"""Which conversation is meant: by its id, by the start of it, or the last one."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from conversation_mcp.cli.entry import WrongUsageError
from conversation_mcp.cli.terminal import say
from conversation_mcp.conversations.files import find
from conversation_mcp.conversations.listing import newest
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.stores.ids import SHAPE
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    from conversation_mcp.models import ConversationId

START = re.compile(r"[0-9]{1,8}|[0-9]{8}-[0-9]{0,13}")
LAST = "last"
SHOWN_MATCHES = 3
SHOWN_CHARS = 60


class NoConversationError(ConversationMCPError):
    """There is no last conversation, because there is none at all."""

    code = ConversationNotFoundError.code
    advice = 'Start one with: conversation-mcp ask "…"'

    def __init__(self, folder: Path) -> None:
        super().__init__(f"there are no conversations in {folder}.")


def resolve(folder: Path, text: str) -> "ConversationId":
    """Return the id that is meant; a whole id is taken as it is, whether or not there is such a conversation.

    Raises:
        WrongUsageError: the text is no id, or the start of several.
        ConversationMCPError: no conversation is meant by it, or the folder cannot be read.
    """
    if SHAPE.fullmatch(text):
        return cast("ConversationId", text)
    if text == LAST:
        return _last(folder)
    if not START.fullmatch(text):
        raise WrongUsageError(
            f"ID must look like 20260131-1769817600000, be the start of such an id, or last; "
            f"got {shorten(text, SHOWN_CHARS)!r}."
        )
    matches = sorted(found.conversation_id for found in find(folder) if found.conversation_id.startswith(text))
    if not matches:
        raise ConversationNotFoundError(f"{text}…", str(folder))
    if len(matches) > 1:
        shown = ", ".join(matches[:SHOWN_MATCHES]) + (", …" if len(matches) > SHOWN_MATCHES else "")
        raise WrongUsageError(f"{len(matches)} conversations begin with {text}: {shown}. Type more of the id.")
    return matches[0]


def _last(folder: Path) -> "ConversationId":
    listing = newest(folder, 1)
    for problem in listing.problems:
        say(problem)
    if not listing.summaries:
        raise NoConversationError(folder)
    return cast("ConversationId", listing.summaries[0].conversation_id)
