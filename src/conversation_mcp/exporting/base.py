"""The port of an export format: how one conversation is written, and how several stand in one file."""

from collections.abc import Callable
from dataclasses import dataclass

from conversation_mcp.records.models import Conversation


@dataclass(frozen=True)
class Frame:
    """What stands around and between the conversations of one file."""

    before: str = ""
    between: str = ""
    after: str = ""


@dataclass(frozen=True)
class ExportFormat:
    """A format: its name, the ending of its files, and the text of a conversation. Whatever that holds is text."""

    name: str
    suffix: str
    render: Callable[[Conversation], str]
    frame: Frame | None = None
    """How several conversations are one file; None where each must have a file of its own."""
