"""The messages of a conversation as a provider gets them."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ChatMessage:
    """A plain message as it is sent: no facts, no decorations."""

    role: Literal["system", "user", "assistant"]
    content: str
