"""Which turn of a conversation belongs to an earlier call."""

from conversation_mcp.models import Conversation, Message, PendingTurn
from conversation_mcp.providers.base import Answer

FoundTurn = PendingTurn | Message


def find_turn(conversation: Conversation, started_at: str) -> FoundTurn | None:
    """Return the reply of the turn that began at `started_at`, or the turn as it stands without one."""
    pending = conversation.pending_turn
    if pending is not None and pending.started_at == started_at:
        return pending
    messages = conversation.messages
    for question, reply in zip(messages[-2::-1], messages[::-1], strict=False):
        if question.role == "user" and question.created_at == started_at and reply.role == "assistant":
            return reply
    return next((left for left in conversation.unanswered_turns or () if left.started_at == started_at), None)


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
