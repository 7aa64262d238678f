"""Branches: new conversations that begin with messages of another one."""

from collections.abc import Sequence

from conversation_mcp.conversations.recipients import with_recipients
from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.ids import created_at
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.models import Conversation, ConversationId, Message, Summary
from conversation_mcp.records.transcript import placed_steps
from conversation_mcp.records.workflow_steps import WorkflowStep

KINDS = {"user": "a question", "tool": "the result of a tool"}


def branched(original: Conversation, message_number: int, conversation_id: ConversationId) -> Conversation:
    """Return the first state of a branch: the messages up to that number, and the other fields of the file.

    Unanswered questions, the archived state and the origin of an import stay with the original: a later import of the
    same conversation continues the original, not the branch.

    Raises:
        InvalidInputError: no follow-up would work there; the message names the nearest numbers where one does.
    """
    points = _points(original.messages)
    if message_number not in points:
        raise _refusal(original, message_number, points)
    now = created_at(conversation_id)
    return original.changed(
        conversation_id=conversation_id,
        created_at=now,
        updated_at=now,
        archived=None,
        ended_at=None,
        imported=None,
        parent={"conversationId": original.conversation_id, "messageCount": message_number},
        parents=None,
        related=None,  # somebody has confirmed it of the original
        pending_turn=None,
        unanswered_turns=None,
        # Their cost counts for the original.
        extractions=None,
        summaries=_summaries(original, message_number),
        workflow_steps=_steps(original, message_number),
        memories=_memories(original, message_number),
        messages=with_recipients(original)[:message_number],  # `imported`, which told them, is gone
    )


def _memories(original: Conversation, message_number: int) -> tuple[Memory, ...] | None:
    """Return those that do not come from a message that the branch lacks."""
    return tuple(each for each in original.memories or () if (each.message_number or 0) <= message_number) or None


def _summaries(original: Conversation, message_number: int) -> tuple[Summary, ...] | None:
    """Return those of messages that the branch has, without their cost, which counts for the original."""
    kept = [
        summary for summary in original.summaries or () if summary.content and summary.last_message <= message_number
    ]
    return tuple(Summary.of(**{name: fact for name, fact in each if name != "usage"}) for each in kept) or None


def _steps(original: Conversation, message_number: int) -> tuple[WorkflowStep, ...] | None:
    """Return the steps before the last message of the branch; a validation that comes after it is still open there."""
    is_whole = message_number == len(original.messages)
    kept = (step for place, step in placed_steps(original) if place < message_number or is_whole)
    return tuple(_unvalidated(step) if _answer_of(step) > message_number else step for step in kept) or None


def _answer_of(step: WorkflowStep) -> int:
    return (step.validation.message_number if step.validation else None) or 0


def _unvalidated(step: WorkflowStep) -> WorkflowStep:
    return WorkflowStep.of(**{name: fact for name, fact in step if name != "validation"})


def _points(messages: Sequence[Message]) -> list[int]:
    """Return the numbers after which a question can follow: at the start, or after an answer."""
    points: list[int] = []
    last = "assistant"
    for number, message in enumerate(messages, 1):
        if message.role not in ("system", "developer"):
            last = message.role
        if last == "assistant":
            points.append(number)
    return points


def _refusal(original: Conversation, message_number: int, points: Sequence[int]) -> InvalidInputError:
    if not points:
        return InvalidInputError(f"no message of {original.conversation_id} is an answer, so it cannot be branched.")
    below = [point for point in points if point < message_number][-1:]
    above = [point for point in points if point > message_number][:1]
    nearest = " or ".join(map(str, (*below, *above)))
    count = len(original.messages)
    if not 1 <= message_number <= count:
        why = f"{original.conversation_id} has messages 1 to {count}"
    else:
        kind = KINDS.get(original.messages[message_number - 1].role, "no answer")
        why = f"message {message_number} is {kind}, and a branch ends at an answer"
    return InvalidInputError(Argument("messageNumber"), f" must be {nearest}: {why}.")
