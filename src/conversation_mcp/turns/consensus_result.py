"""The result of a consensus, read from its conversation."""

from typing import Literal

from conversation_mcp.prompting.verdicts import author_of
from conversation_mcp.records.models import Conversation, Message, PendingCall
from conversation_mcp.records.record import Record
from conversation_mcp.records.usage import Usage
from conversation_mcp.turns.consensus_changes import SYNTHESIS, total_usage
from conversation_mcp.turns.result import TurnResult


class Verdict(Record):
    """What one model of a consensus said."""

    model: str
    """The model that was asked."""
    provider: str | None = None
    """The provider that was asked."""
    stance: str | None = None
    """`for`, `against`, `neutral`, `own`, or `synthesis`."""
    status: Literal["completed", "incomplete", "failed"]
    """`failed`: there is no text, and a notice says why."""
    text: str | None = None
    """The answer, without any decoration."""
    usage: Usage | None = None
    """Tokens and cost, as the provider reported them."""
    notices: tuple[str, ...] | None = None
    """Deviations from the request, or why there is no answer."""


class ConsensusResult(TurnResult):
    """The verdicts of several models on one question."""

    verdicts: tuple[Verdict, ...] = ()
    """The verdicts in the order of the models."""
    synthesis: Verdict | None = None
    """What the model that was named for it made of the verdicts."""
    degraded: bool | None = None
    """Whether a model gave no answer; the others stand."""


def verdict_of(message: Message) -> Verdict:
    """Return the verdict that a message holds."""
    return Verdict.of(
        model=author_of(message),
        provider=message.provider,
        stance=message.stance,
        status="incomplete" if message.finish_reason == "length" else "completed",
        text=message.content,
        usage=message.usage,
        notices=message.notices,
    )


def failed_verdict(call: PendingCall) -> Verdict:
    """Return the verdict of a call that has no answer."""
    why = f"{call.error.code}: {call.error.message}" if call.error else "it was interrupted before it answered"
    return Verdict.of(
        model=call.model or call.provider,
        provider=call.provider,
        stance=call.stance,
        status="failed",
        usage=call.usage,
        notices=(why, *(call.notices or ())),
    )


def consensus_result(
    conversation: Conversation, reply: Message, path: str, notice: str | None = None, *, is_saved: bool = True
) -> ConsensusResult:
    """Return the result of the consensus whose first verdict is `reply`."""
    messages = conversation.messages
    first = next(place for place, one in enumerate(messages) if one is reply)
    end = next((place for place in range(first, len(messages)) if not messages[place].stance), len(messages))
    question = messages[first - 1]
    given = [verdict_of(message) for message in messages[first:end]]
    missed = [
        failed_verdict(turn.calls[0])
        for turn in conversation.unanswered_turns or ()
        if turn.calls and len(turn.calls) == 1 and turn.started_at == question.created_at
    ]
    everyone = (*given, *missed)
    verdicts = tuple(one for one in everyone if one.stance != SYNTHESIS)
    named = [f"{one.model} ({one.stance}) gave no answer: {(one.notices or ('',))[0]}" for one in missed]
    return ConsensusResult.of(
        conversation_id=conversation.conversation_id,
        status="completed",
        verdicts=verdicts,
        synthesis=next((one for one in everyone if one.stance == SYNTHESIS), None),
        degraded=True if missed else None,
        usage=total_usage(one.usage for one in everyone if one.usage),
        message_count=conversation.message_count if is_saved else None,
        turn=conversation.turn_count if is_saved else None,
        files=question.files,
        images=question.images,
        notices=tuple(filter(None, (notice, *named))) or None,
        conversation_path=path,
    )
