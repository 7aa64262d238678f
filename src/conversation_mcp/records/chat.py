"""The messages of a conversation as providers receive them."""

from typing import Literal, NamedTuple


class ChatMessage(NamedTuple):
    """A message as it is sent: its text alone, without the facts of the record."""

    role: Literal["system", "user", "assistant"]
    content: str
