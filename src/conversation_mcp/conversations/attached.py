"""The wording of files and images that questions name."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversation_mcp.conversations.phrases import dotted
from conversation_mcp.records.attached import AttachedFile, AttachedImage, named_by
from conversation_mcp.records.models import Conversation, Message
from conversation_mcp.records.transcript import transcript
from conversation_mcp.text import counted, one_line

SENT = {"whole": "sent whole", "diff": "changes sent", "known": "sent before", "skipped": "not sent"}
SHOWN_FILES = 12


def attached_line(named: AttachedFile | AttachedImage) -> str:
    """Return the path of a file or image with its size and how it was sent, on one line."""
    if isinstance(named, AttachedFile):
        place = f"{named.path}:{named.lines}" if named.lines else named.path
        since, size = named.changed_since, counted(named.pages, "page") if named.pages else ""
    else:
        place, since = named.path, None
        size = f"{named.width} by {named.height}" if named.width and named.height else ""
    return dotted(
        one_line(place),
        size,
        "" if named.bytes is None else counted(named.bytes, "byte"),
        "sent as PDF" if isinstance(named, AttachedFile) and named.as_pdf else SENT[named.sent],
        f"changed since message {since}" if since else "",
        one_line(named.reason or ""),
    )


def attached_lines(named: Sequence[AttachedFile | AttachedImage]) -> list[str]:
    """Return a line for each of the first files and images, and one that counts the others."""
    more = len(named) - SHOWN_FILES
    return [*map(attached_line, named[:SHOWN_FILES]), *([f"and {more:,} more"] if more > 0 else [])]


@dataclass(frozen=True)
class AttachedAt:
    """A file or image with the number of the message that names it.

    If that is an unanswered question, the number is that of the message before it.
    """

    number: int
    is_answered: bool
    named: AttachedFile | AttachedImage


def attached_in(conversation: Conversation) -> list[AttachedAt]:
    """Return everything that questions of the conversation name, in order."""
    return [
        AttachedAt(number, isinstance(entry, Message), named)
        for number, entry in transcript(conversation)
        for named in named_by(entry)
    ]
