"""The order of questions and answers, which edits by hand can upset."""

from collections.abc import Iterator

from conversation_mcp.records.models import Conversation, Message

SPOKEN = {"user": "question", "assistant": "answer"}


def order_problems(conversation: Conversation) -> Iterator[str]:
    """Yield the problems that a person who edited the file should look at; none of them prevents a follow-up."""
    before: Message | None = None
    number = 0
    for number, message in enumerate(conversation.messages, 1):
        name = SPOKEN.get(message.role)
        if name is None:
            continue
        if not message.content.strip():
            yield f"message {number} is empty"
        if before is not None and before.role == message.role:
            yield f"message {number} is another {name} where {_other(message)} is due"
        elif before is None and message.role == "assistant":
            yield f"message {number} is an answer without a question"
        before = message
    if before is not None and before.role == "user":
        yield "the last question has no answer; it is sent along with the next one"


def _other(message: Message) -> str:
    return "an answer" if message.role == "user" else "a question"
