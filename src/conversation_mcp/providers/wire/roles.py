"""Messages as they are sent."""

from collections.abc import Sequence
from typing import Literal

from conversation_mcp.providers.base import ChatMessage
from conversation_mcp.text import storable

SystemRole = Literal["system", "developer", "user"]


def sent_messages(messages: Sequence[ChatMessage], system_role: SystemRole = "system") -> list[dict[str, str]]:
    """Return role and text of each message; where no system role is taken, its text begins the first question."""
    sent: list[dict[str, str]] = []
    for message in messages:
        content = storable(message.content)
        role = system_role if message.role == "system" else message.role
        if role == "user" and sent and sent[-1]["role"] == "user":
            sent[-1]["content"] += f"\n\n{content}"
        else:
            sent.append({"role": role, "content": content})
    return sent
