"""The port of an export format: the text of a conversation, and how several share a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from conversation_mcp.records.models import Conversation


@dataclass(frozen=True)
class Frame:
    """The texts around and between the conversations of one file."""

    before: str = ""
    between: str = ""
    after: str = ""


Contents = Mapping[str, bytes]
"""What the questions of a conversation name, by hash, as far as it is kept."""

NO_CONTENTS: Contents = MappingProxyType({})


class Render(Protocol):
    """The function of a format."""

    def __call__(self, conversation: Conversation, contents: Contents = NO_CONTENTS) -> str:
        """Return the text of a conversation and of what its questions name."""
        ...


@dataclass(frozen=True)
class ExportFormat:
    """A format: its name, the suffix of its files, and the function that writes a conversation.

    Whatever a conversation holds is text to it, never markup of the format itself.
    """

    name: str
    suffix: str
    render: Render
    frame: Frame | None = None
    """How several conversations share one file; None if each must have a file of its own."""
