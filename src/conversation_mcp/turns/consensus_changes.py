"""The changes that a consensus makes to its conversation: each call is seen and changed as if it were the question."""

from collections.abc import Iterable, Sequence

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.records.models import Conversation, Message, PendingCall, PendingTurn, TurnError
from conversation_mcp.records.usage import Usage
from conversation_mcp.text import storable
from conversation_mcp.turns import changes
from conversation_mcp.turns.ask import Seat

OWN, SYNTHESIS = "own", "synthesis"
_OF_A_RUN = (
    "provider",
    "model",
    "sent_to",
    "response_id",
    "background",
    "estimated_tokens",
    "partial_text",
    "error",
    "usage",
    "notices",
)
"""The facts that a call and a pending turn both have."""


def call_of(seat: Seat, choice: Choice) -> PendingCall:
    """Return the call of a seat as it is written before anybody is asked."""
    return PendingCall.of(
        provider=choice.provider.name,
        model=choice.name,
        stance=OWN if seat.stance_prompt else seat.stance,
        stance_prompt=seat.stance_prompt,
        sent_to={choice.provider.name: choice.side},
        notices=choice.notices or None,
    )


def answered_call(call: PendingCall, answer: Message) -> PendingCall:
    """Return the call with its answer, which has all other facts."""
    facts = ("provider", "model", "stance", "stance_prompt")
    return PendingCall.of(status="completed", answer=answer, **{name: getattr(call, name) for name in facts})


def failed_call(call: PendingCall, error: ConversationMCPError) -> PendingCall:
    """Return the call with the reason why it has no answer."""
    why = TurnError(code=error.code, message=storable(error.message))
    return call.model_copy(update={"status": "failed", "error": why})


def as_question(pending: PendingTurn, call: PendingCall) -> PendingTurn:
    """Return the call as a pending turn of its own."""
    facts = {name: getattr(call, name) for name in _OF_A_RUN}
    status = "running" if call.status == "completed" else call.status
    return PendingTurn.of(
        question=pending.question, tool=pending.tool, started_at=pending.started_at, status=status, **facts
    )


def seen(conversation: Conversation, place: int) -> Conversation:
    """Return the conversation as if that call were its only question; unchanged if the call is gone."""
    pending = conversation.pending_turn
    calls = (pending and pending.calls) or ()
    if pending is None or place >= len(calls):
        return conversation.changed(pending_turn=None)
    return conversation.changed(pending_turn=as_question(pending, calls[place]))


def folded(stored: Conversation, place: int, changed: Conversation) -> Conversation:
    """Return the stored conversation with what was changed in the view of that call."""
    pending, view = stored.pending_turn, changed.pending_turn
    if pending is None or view is None or not pending.calls or place >= len(pending.calls):
        return stored
    facts = {name: value for name in _OF_A_RUN if (value := getattr(view, name)) is not None}
    call = pending.calls[place].model_copy(update={**facts, "status": view.status})
    return with_calls(stored, (*pending.calls[:place], call, *pending.calls[place + 1 :]))


def with_calls(stored: Conversation, calls: Sequence[PendingCall]) -> Conversation:
    """Return the conversation with these calls, their recipients and their cost so far."""
    if stored.pending_turn is None:
        return stored
    facts = {"calls": tuple(calls), "sent_to": recipients(calls), "usage": usage_of(calls)}
    known = {name: value for name, value in facts.items() if value}
    return stored.changed(pending_turn=stored.pending_turn.model_copy(update=known))


def completed(stored: Conversation, pending: PendingTurn, place: int, answer: Message) -> Conversation:
    """Keep the answer to a call; no-op if the question is gone."""
    now = stored.pending_turn
    if now is None or not changes.is_ours(stored, pending) or not now.calls or place >= len(now.calls):
        return stored
    call = answered_call(now.calls[place], answer)
    return with_calls(stored, (*now.calls[:place], call, *now.calls[place + 1 :]))


def finished(stored: Conversation, pending: PendingTurn, calls: Sequence[PendingCall]) -> Conversation:
    """Add the question and all verdicts, and set the calls without a verdict aside; drop the pending turn."""
    rest = stored.changed(pending_turn=None) if changes.is_ours(stored, pending) else stored
    # Verdicts that could not be saved at first may come after another process has set their question aside.
    if unanswered := rest.unanswered_turns:
        left = tuple(turn for turn in unanswered if not (turn.calls and changes.is_same(turn, pending)))
        rest = rest.changed(unanswered_turns=left or None)
    replies = tuple(call.answer for call in calls if call.answer)
    count = len(rest.messages)
    missed = (
        left_call(pending, call, count).model_copy(update={"calls": (call,)}) for call in calls if not call.answer
    )
    if failed := tuple(missed):
        rest = rest.changed(unanswered_turns=(*(rest.unanswered_turns or ()), *failed))
    return rest.changed(messages=(*rest.messages, changes.question_message(pending), *replies))


def left_call(pending: PendingTurn, call: PendingCall, after_message: int) -> PendingTurn:
    """Return the call as an unanswered question of its own."""
    status = "interrupted" if call.status == "running" else call.status
    return as_question(pending, call).model_copy(update={"status": status, "after_message": after_message})


def failed(stored: Conversation, pending: PendingTurn, error: ConversationMCPError) -> Conversation:
    """Mark the question as failed, with the calls as they are; no-op if it is gone."""
    now = stored.pending_turn
    if now is None or not changes.is_ours(stored, pending):
        return stored
    why = TurnError(code=error.code, message=storable(error.message))
    return stored.changed(pending_turn=now.model_copy(update={"status": "failed", "error": why}))


def recipients(calls: Iterable[PendingCall]) -> dict[str, str]:
    """Return everyone who received the text for any of the calls; what was outside once stays so."""
    found: dict[str, str] = {}
    for call in calls:
        sent_to = (call.answer.sent_to if call.answer else call.sent_to) or {}
        found |= {name: side for name, side in sent_to.items() if found.get(name) != "outside"}
    return found


def usage_of(calls: Iterable[PendingCall]) -> Usage | None:
    """Return the sum of what the calls used, as far as it is known."""
    used = [usage for call in calls if (usage := call.answer.usage if call.answer else call.usage)]
    return total_usage(used)


def total_usage(used: Iterable[Usage]) -> Usage | None:
    """Return the sum of each amount that is known; None if none is."""
    sums: dict[str, float] = {}
    for usage in used:
        for name in ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens", "cost_usd"):
            if (amount := getattr(usage, name)) is not None:
                sums[name] = sums.get(name, 0) + amount
    return Usage.told(**sums)
