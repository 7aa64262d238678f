"""How a turn changes its conversation: pure functions from the conversation as it is now to the next one."""

from conversation_mcp.errors import ConversationMCPError, ProviderError
from conversation_mcp.providers.base import Answer
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.records.ids import created_at
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn, TurnError, Usage
from conversation_mcp.text import storable
from conversation_mcp.turns.ask import Ask


def pending_turn(ask: Ask, choice: Choice, started_at: str) -> PendingTurn:
    """Return the question as it stands on disk before it is sent."""
    return PendingTurn.of(
        question=storable(ask.question),
        tool=ask.tool,
        provider=choice.provider.name,
        model=choice.name,
        sent_to={choice.provider.name: choice.side},
        options=ask.stored_options(),
        status="running",
        started_at=started_at,
        notices=choice.notices or None,
    )


def new_conversation(conversation_id: ConversationId, system_prompt: str, pending: PendingTurn) -> Conversation:
    """Return the first state of a conversation: the system message and the question, not answered yet."""
    now = created_at(conversation_id)
    return Conversation.of(
        conversation_id=conversation_id,
        created_at=now,
        updated_at=now,
        message_count=1,
        pending_turn=pending,
        messages=(Message.of(role="system", content=system_prompt),),
    )


def asked(conversation: Conversation, pending: PendingTurn) -> Conversation:
    """Add a question; one that was never answered is set aside. What was put away is so no longer."""
    unarchived = {"archived": None} if conversation.archived else {}
    return set_aside(conversation).changed(pending_turn=pending, **unarchived)


def asked_again(conversation: Conversation, pending: PendingTurn) -> Conversation:
    """Put the question to somebody else, after the first one did not take it; nothing where it is gone."""
    return conversation.changed(pending_turn=pending) if is_ours(conversation, pending) else conversation


def set_aside(conversation: Conversation) -> Conversation:
    """Move a question without an answer out of the way of the next one, and note where it stood."""
    left = conversation.pending_turn
    if left is None:
        return conversation
    status = "interrupted" if left.status == "running" else left.status
    left = left.model_copy(update={"status": status, "after_message": len(conversation.messages)})
    return conversation.changed(pending_turn=None, unanswered_turns=(*(conversation.unanswered_turns or ()), left))


def is_ours(conversation: Conversation, pending: PendingTurn) -> bool:
    """Tell whether the stored pending turn is this one; a hand edit may have changed or removed it meanwhile."""
    return conversation.pending_turn is not None and conversation.pending_turn.started_at == pending.started_at


def _is_same(stored: PendingTurn, pending: PendingTurn) -> bool:
    return (stored.question, stored.started_at) == (pending.question, pending.started_at)


def noted(conversation: Conversation, pending: PendingTurn, **facts: object) -> Conversation:
    """Write facts about a running turn into it; nothing where it is gone."""
    if not is_ours(conversation, pending) or conversation.pending_turn is None:
        return conversation
    known = {name: value for name, value in facts.items() if value is not None}
    return conversation.changed(pending_turn=conversation.pending_turn.model_copy(update=known))


def answered(conversation: Conversation, pending: PendingTurn, answer: Answer, now: str) -> Conversation:
    """Add question and answer together and drop the pending turn."""
    question = Message.of(
        role="user",
        content=pending.question,
        created_at=pending.started_at,
        tool=pending.tool,
        options=pending.options,
    )
    reply = Message.of(
        role="assistant",
        content=storable(answer.content),
        created_at=now,
        provider=pending.provider,
        preset=answer.preset,
        model=answer.model,
        requested_model=pending.model,
        sent_to=pending.sent_to,
        response_id=answer.response_id,
        finish_reason=answer.finish_reason,
        sources=answer.sources or None,
        related_questions=answer.related_questions or None,
        usage=answer.usage,
        notices=answer.notices or None,
        reasoning=storable(answer.reasoning) if answer.reasoning else None,
    )
    rest = conversation.changed(pending_turn=None) if is_ours(conversation, pending) else conversation
    if unanswered := rest.unanswered_turns:
        left = tuple(turn for turn in unanswered if not _is_same(turn, pending))
        rest = rest.changed(unanswered_turns=left or None)
    return rest.changed(messages=(*rest.messages, question, reply))


def failed(
    conversation: Conversation, pending: PendingTurn, error: ConversationMCPError, partial_text: str
) -> Conversation:
    """Mark the turn as failed, with the reason, what was charged and the text that had come."""
    usage = Usage.model_validate(dict(error.usage)) if isinstance(error, ProviderError) and error.usage else None
    return noted(
        conversation,
        pending,
        status="failed",
        error=TurnError(code=error.code, message=storable(error.message)),
        usage=usage,
        partial_text=storable(partial_text) or None,
    )


def interrupted(
    conversation: Conversation, pending: PendingTurn, partial_text: str, lost: ProviderError | None = None
) -> Conversation:
    """Mark the turn as broken off by the end of its server; with `lost` its run is known to be gone."""
    return noted(
        conversation,
        pending,
        status="interrupted",
        partial_text=storable(partial_text) or None,
        error=TurnError(code=lost.code, message=lost.message) if lost else None,
    )
