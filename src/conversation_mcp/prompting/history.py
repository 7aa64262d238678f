"""The messages to send: the whole conversation, in its order. Nothing here changes the file."""

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
"""The role that a message is sent with, by its role in the file; tool messages are not sent."""


def messages_to_send(conversation: Conversation, question: str) -> tuple[ChatMessage, ...]:
    """Return the history, then the question."""
    return (*history_to_send(conversation), ChatMessage("user", question))


def history_to_send(conversation: Conversation) -> tuple[ChatMessage, ...]:
    """Return the system texts as one message, then the messages from the first question on, in their order.

    An unanswered question among the messages is sent like any other, the same way in every request. Texts are sent as
    they are stored. Empty messages and tool messages are left out: the answers that used a tool contain its results.
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
    """Return the history as strict readers require it: alternating questions and answers, ending with an answer."""
    turns = merged(history_to_send(conversation))
    while turns and turns[-1].role == "user":
        turns.pop()
    return tuple(turns)
