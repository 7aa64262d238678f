"""Which messages are sent: the whole conversation, made fit for strict providers. Nothing here changes the file."""

from collections.abc import Iterable

from conversation_mcp.models import Conversation, Message
from conversation_mcp.providers.base import ChatMessage


def messages_to_send(conversation: Conversation, question: str) -> tuple[ChatMessage, ...]:
    """Return the turns that are sent, then the question."""
    return (*turns_to_send(conversation), ChatMessage("user", question))


def turns_to_send(conversation: Conversation) -> tuple[ChatMessage, ...]:
    """Return system texts first, then user and assistant in turn, an answer last.

    Texts are sent as they are stored. Empty messages are left out, tool messages too (their results stand in the
    answers that used them), neighbours of one role are merged, and a question that was never answered is not sent
    again.
    """
    system = [message for message in conversation.messages if message.role in ("system", "developer")]
    spoken = [message for message in conversation.messages if message.role in ("user", "assistant")]
    turns = _merged(_plain(spoken))
    while turns and turns[-1].role == "user":
        turns.pop()
    while turns and turns[0].role == "assistant":
        turns.pop(0)
    return (*_merged(_plain(system)), *turns)


def _plain(messages: Iterable[Message]) -> Iterable[ChatMessage]:
    for message in messages:
        if message.content.strip():
            role = "system" if message.role in ("system", "developer") else message.role
            assert role != "tool"  # noqa: S101 -- narrows the type; callers pass no tool messages
            yield ChatMessage(role, message.content)


def _merged(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    merged: list[ChatMessage] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = ChatMessage(message.role, f"{merged[-1].content}\n\n{message.content}")
        else:
            merged.append(message)
    return merged
