"""Which messages are sent: the whole conversation, each where it was said. Nothing here changes the file."""

from collections.abc import Mapping
from typing import Literal

from conversation_mcp.providers.wire.roles import merged
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Conversation

ROLES: Mapping[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
"""As whose words a message is sent, by its role in the file; those of tools are not."""


def messages_to_send(conversation: Conversation, question: str) -> tuple[ChatMessage, ...]:
    """Return what was said so far, then the question."""
    return (*history_to_send(conversation), ChatMessage("user", question))


def history_to_send(conversation: Conversation) -> tuple[ChatMessage, ...]:
    """Return system texts first as one, then what was said, from the first question on, each message in its place.

    A question without an answer that stands among the messages is sent like any other, in every request the same.
    Texts are sent as they are stored. Empty messages are left out, tool messages too: their results stand in the
    answers that used them.
    """
    told = [
        ChatMessage(role, message.content)
        for message in conversation.messages
        if (role := ROLES.get(message.role)) and message.content.strip()
    ]
    spoken = [message for message in told if message.role != "system"]
    first = next((place for place, message in enumerate(spoken) if message.role == "user"), len(spoken))
    return (*merged(message for message in told if message.role == "system"), *spoken[first:])


def finished_turns(conversation: Conversation) -> tuple[ChatMessage, ...]:
    """Return the history as strict readers want it: questions and answers in turn, an answer last."""
    turns = merged(history_to_send(conversation))
    while turns and turns[-1].role == "user":
        turns.pop()
    return tuple(turns)
