"""Finding the turn of an earlier call in its stored conversation."""

from conversation_mcp.providers.base import Answer
from conversation_mcp.records.models import Conversation, Message, PendingTurn

FoundTurn = PendingTurn | Message


def find_turn(conversation: Conversation, started_at: str, question: str | None = None) -> FoundTurn | None:
    """Return the reply to the question that was asked at `started_at`, or if it has none, the turn as it is stored.

    A clock that counts coarsely gives two questions the same time; `question` then tells them apart.
    """

    def is_it(at: str | None, text: str) -> bool:
        return at == started_at and question in (None, text)

    pending = conversation.pending_turn
    if pending is not None and is_it(pending.started_at, pending.question):
        return pending
    messages = conversation.messages
    # Adjacent messages in pairs, the last pair first: the turn looked for is usually recent.
    for said, reply in zip(messages[-2::-1], messages[::-1], strict=False):
        if said.role == "user" and reply.role == "assistant" and is_it(said.created_at, said.content):
            return reply
    left = conversation.unanswered_turns or ()
    return next((turn for turn in left if is_it(turn.started_at, turn.question)), None)


def stored_answer(message: Message) -> Answer:
    """Return the answer that an assistant message holds."""
    return Answer(
        content=message.content,
        finish_reason="length" if message.finish_reason == "length" else "stop",
        sources=message.sources or (),
        usage=message.usage,
        model=message.model,
        preset=message.preset,
        response_id=message.response_id,
        reasoning=message.reasoning,
        related_questions=message.related_questions or (),
        notices=message.notices or (),
    )
