"""The port of an export format: the text of a conversation, and how several share a file."""

from collections.abc import Callable
from dataclasses import dataclass

from conversation_mcp.records.models import Conversation


@dataclass(frozen=True)
class Frame:
    """The texts around and between the conversations of one file."""

    before: str = ""
    between: str = ""
    after: str = ""


@dataclass(frozen=True)
class ExportFormat:
    """A format: its name, the suffix of its files, and the function that writes a conversation.

    Whatever a conversation holds is text to it, never markup of the format itself.
    """

    name: str
    suffix: str
    render: Callable[[Conversation], str]
    frame: Frame | None = None
    """How several conversations share one file; None if each must have a file of its own."""
