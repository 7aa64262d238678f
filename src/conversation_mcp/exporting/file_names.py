"""Names of exported files that are valid on every system."""

import unicodedata

from conversation_mcp.records.models import Conversation
from conversation_mcp.records.titles import title_of_conversation

MAX_BYTES = 100
"""File systems limit the bytes of a name, not its characters; most to 255."""


def file_name(conversation: Conversation, suffix: str) -> str:
    """Return the id and the letters and digits of the title.

    The id makes the name unique, never empty, and different from names that Windows reserves.
    """
    # Composed, because an accent by itself is no letter, and would divide the word.
    composed = unicodedata.normalize("NFC", title_of_conversation(conversation).lower())
    words = "".join(char if char.isalnum() else " " for char in composed).split()
    name = "-".join((conversation.conversation_id, *words)).encode()[: MAX_BYTES - len(suffix)].decode(errors="ignore")
    return name.rstrip("-") + suffix
