"""Roles and texts of messages on the wire."""

from collections.abc import Iterable, Sequence
from typing import Literal

from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.text import storable

SystemRole = Literal["system", "developer", "user"]


def sent_messages(
    messages: Sequence[ChatMessage], system_role: SystemRole = "system", *, alternate: bool = True
) -> list[dict[str, str]]:
    """Return role and text of each message; without a system role, the system text begins the first question.

    With `alternate`, adjacent messages of one role are merged, for providers that require roles to alternate.
    """
    sent: list[dict[str, str]] = []
    begins_question = False
    for message in merged(messages) if alternate else messages:
        content = storable(message.content)
        role = system_role if message.role == "system" else message.role
        if role == "user" and begins_question:
            sent[-1]["content"] += f"\n\n{content}"
        else:
            sent.append({"role": role, "content": content})
        begins_question = role == "user" != message.role
    return sent


def merged(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with adjacent ones of the same role merged into paragraphs."""
    kept: list[ChatMessage] = []
    for message in messages:
        if kept and kept[-1].role == message.role:
            kept[-1] = message._replace(content=f"{kept[-1].content}\n\n{message.content}")
        else:
            kept.append(message)
    return kept
