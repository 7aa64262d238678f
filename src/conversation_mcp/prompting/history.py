"""Which messages are sent: the whole conversation, each where it was said. Nothing here changes the file."""

from collections.abc import Iterable

from conversation_mcp.providers.wire.roles import merged
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Conversation, Message


def messages_to_send(conversation: Conversation, question: str) -> tuple[ChatMessage, ...]:
    """Return what was said so far, then the question."""
    return (*history_to_send(conversation), ChatMessage("user", question))


def history_to_send(conversation: Conversation) -> tuple[ChatMessage, ...]:
    """Return system texts first as one, then what was said, from the first question on, each message in its place.

    A question without an answer that stands among the messages is sent like any other, in every request the same.
    Texts are sent as they are stored. Empty messages are left out, tool messages too: their results stand in the
    answers that used them.
    """
    system = [message for message in conversation.messages if message.role in ("system", "developer")]
    spoken = list(_plain(message for message in conversation.messages if message.role in ("user", "assistant")))
    first = next((place for place, message in enumerate(spoken) if message.role == "user"), len(spoken))
    return (*merged(_plain(system)), *spoken[first:])


def finished_turns(conversation: Conversation) -> tuple[ChatMessage, ...]:
    """Return the history as strict readers want it: questions and answers in turn, an answer last."""
    turns = merged(history_to_send(conversation))
    while turns and turns[-1].role == "user":
        turns.pop()
    return tuple(turns)


def _plain(messages: Iterable[Message]) -> Iterable[ChatMessage]:
    for message in messages:
        if message.content.strip():
            role = "system" if message.role in ("system", "developer") else message.role
            assert role != "tool"  # noqa: S101 -- narrows the type; callers pass no tool messages
            yield ChatMessage(role, message.content)
