"""The changes that a turn makes to its conversation: pure functions from the stored conversation to the next one.

Each is applied to the file as it is now, not as it was when the turn began: a person may have edited it meanwhile.
"""

from typing import TYPE_CHECKING

from conversation_mcp.errors import ConversationMCPError, ProviderError
from conversation_mcp.providers.base import Answer
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.records.ids import created_at
from conversation_mcp.records.links import link_to
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn, Summary, TurnError
from conversation_mcp.records.usage import Usage
from conversation_mcp.text import storable
from conversation_mcp.turns.ask import Ask

if TYPE_CHECKING:
    from conversation_mcp.prompting.composed import Composition


def pending_turn(ask: Ask, choice: Choice, started_at: str) -> PendingTurn:
    """Return the question as it is written before it is sent."""
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


def composed(pending: PendingTurn, composition: "Composition", shared: tuple[str, ...]) -> PendingTurn:
    """Return the question with what is sent along, and with the notices about that and about new recipients."""
    notices = (*(pending.notices or ()), *shared, *composition.notices)
    sent = {
        "files": composition.files,
        "images": composition.images,
        "estimated_tokens": composition.tokens if composition.is_counted else None,
        "notices": notices,
    }
    return pending.model_copy(update={name: value for name, value in sent.items() if value})


def new_conversation(
    conversation_id: ConversationId, system_prompt: str, continued: Conversation | None
) -> Conversation:
    """Return the first state of a conversation, with the system message, and the link to the one it continues."""
    now = created_at(conversation_id)
    return Conversation.of(
        conversation_id=conversation_id,
        created_at=now,
        updated_at=now,
        message_count=1,
        parent=link_to(continued) if continued else None,
        messages=(Message.of(role="system", content=system_prompt),),
    )


def asked(conversation: Conversation, pending: PendingTurn) -> Conversation:
    """Add a question. An earlier one without an answer is set aside, and an archived conversation is restored."""
    unarchived = {"archived": None} if conversation.archived else {}
    return set_aside(conversation).changed(pending_turn=pending, ended_at=None, **unarchived)


def asked_again(conversation: Conversation, pending: PendingTurn) -> Conversation:
    """Name the fallback that is asked now, after the first model did not take the question; no-op if it is gone."""
    return conversation.changed(pending_turn=pending) if is_ours(conversation, pending) else conversation


def summarised(conversation: Conversation, summary: Summary) -> Conversation:
    """Add a summary of its first messages."""
    return conversation.changed(summaries=(*(conversation.summaries or ()), summary))


def set_aside(conversation: Conversation) -> Conversation:
    """Make room for the next question: move an unanswered one to `unanswered_turns`, with its place."""
    left = conversation.pending_turn
    if left is None:
        return conversation
    status = "interrupted" if left.status == "running" else left.status
    left = _with_ended_calls(left)
    left = left.model_copy(update={"status": status, "after_message": len(conversation.messages)})
    return conversation.changed(pending_turn=None, unanswered_turns=(*(conversation.unanswered_turns or ()), left))


def _with_ended_calls(pending: PendingTurn) -> PendingTurn:
    """Return the question with its calls that cannot be fetched marked as interrupted."""
    if not pending.calls:
        return pending
    calls = tuple(
        call.model_copy(update={"status": "interrupted"})
        if call.status == "running" and call.response_id is None
        else call
        for call in pending.calls
    )
    return pending.model_copy(update={"calls": calls})


def is_ours(conversation: Conversation, pending: PendingTurn) -> bool:
    """Tell whether the stored pending turn is this one; a hand edit may have changed or removed it."""
    return conversation.pending_turn is not None and conversation.pending_turn.started_at == pending.started_at


def is_same(stored: PendingTurn, pending: PendingTurn) -> bool:
    """Tell whether both are the same question, asked at the same time."""
    return (stored.question, stored.started_at) == (pending.question, pending.started_at)


def noted(conversation: Conversation, pending: PendingTurn, **facts: object) -> Conversation:
    """Add facts to a running turn; no-op if it is gone."""
    if not is_ours(conversation, pending) or conversation.pending_turn is None:
        return conversation
    known = {name: value for name, value in facts.items() if value is not None}
    return conversation.changed(pending_turn=conversation.pending_turn.model_copy(update=known))


def question_message(pending: PendingTurn) -> Message:
    """Return the question as it stands among the messages once it is answered."""
    return Message.of(
        role="user",
        content=pending.question,
        created_at=pending.started_at,
        tool=pending.tool,
        options=pending.options,
        files=pending.files,
        images=pending.images,
    )


def reply_message(pending: PendingTurn, answer: Answer, notices: tuple[str, ...], now: str) -> Message:
    """Return the answer as it stands among the messages."""
    return Message.of(
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
        estimated_tokens=pending.estimated_tokens,
        notices=notices or None,
        reasoning=storable(answer.reasoning) if answer.reasoning else None,
    )


def answered(conversation: Conversation, pending: PendingTurn, answer: Answer, now: str) -> Conversation:
    """Add question and answer together and drop the pending turn."""
    question, reply = question_message(pending), reply_message(pending, answer, answer.notices, now)
    rest = conversation.changed(pending_turn=None) if is_ours(conversation, pending) else conversation
    # An answer that could not be saved at first may come after another process has set its question aside.
    if unanswered := rest.unanswered_turns:
        left = tuple(turn for turn in unanswered if not is_same(turn, pending))
        rest = rest.changed(unanswered_turns=left or None)
    return rest.changed(messages=(*rest.messages, question, reply))


def failed(
    conversation: Conversation, pending: PendingTurn, error: ConversationMCPError, partial_text: str
) -> Conversation:
    """Mark the turn as failed, with the reason, the charge and the text received so far."""
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
    """Mark the turn as interrupted by the end of its server; `lost` says why its run can never be fetched."""
    now = conversation.pending_turn
    return noted(
        conversation,
        pending,
        calls=_with_ended_calls(now).calls if now else None,
        status="interrupted",
        partial_text=storable(partial_text) or None,
        error=TurnError(code=lost.code, message=lost.message) if lost else None,
    )
