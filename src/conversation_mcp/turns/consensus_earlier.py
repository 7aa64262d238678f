"""What the same consensus left, asked earlier and never brought to its end: nothing of it is paid for again."""

from conversation_mcp.records.models import Conversation, PendingCall, PendingTurn
from conversation_mcp.stores.base import Call
from conversation_mcp.turns import consensus_changes
from conversation_mcp.turns.ask import Ask, Seat
from conversation_mcp.turns.consensus_changes import SYNTHESIS
from conversation_mcp.turns.consensus_session import Panel, Voice

ASKED_AGAIN = (
    "its server ended before the answer to an earlier request came, which cannot be fetched; it was asked again, "
    "and the earlier request may be billed, too"
)


def left_by(call: Call | None, stored: Conversation) -> PendingTurn | None:
    """Return the question that the call left in the conversation, with its calls so far."""
    pending = (stored.pending_turn,) if stored.pending_turn else ()
    turns = (*pending, *reversed(stored.unanswered_turns or ()))
    return next((turn for turn in turns if call and turn.calls and turn.started_at == call.started_at), None)


def taken_up(stored: Conversation, earlier: PendingTurn | None, kept: tuple[PendingCall, ...]) -> Conversation:
    """Return the conversation without that question; its calls that are made again stay as unanswered."""
    if earlier is None:
        return stored
    if stored.pending_turn and stored.pending_turn.started_at == earlier.started_at:
        stored = stored.changed(pending_turn=None)
    left = [turn for turn in stored.unanswered_turns or () if not (turn.calls and _is_same_turn(turn, earlier))]
    again = [call for call in earlier.calls or () if call.answer is None and call.sent_to and call not in kept]
    left += [consensus_changes.left_call(earlier, call, len(stored.messages)) for call in again]
    return stored.changed(unanswered_turns=tuple(left) or None)


def voices_of(ask: Ask, panel: Panel, earlier: PendingTurn | None) -> list[Voice]:
    """Return the models to ask, each with what came of it before; the synthesis only if it was asked already."""
    known = (earlier and earlier.calls) or ()
    summing = _summing(panel, known)
    voices: list[Voice] = []
    for place, (seat, choice) in enumerate(zip(ask.seats, panel.choices, strict=True)):
        call = consensus_changes.call_of(seat, choice)
        before = _same(call, known)
        # A synthesis rests on the verdicts as they were, so that one that failed then is not asked for again.
        if before and (_is_there(before) or (summing and before.status != "running")):
            call = before
        else:
            call = asked_again(call, known)
        voices.append(Voice(seat, choice, call, place))
    if panel.synthesizer and summing:
        voices.append(Voice(Seat(panel.synthesizer.naming, SYNTHESIS), panel.synthesizer, summing, len(voices)))
    return voices


def asked_again(call: PendingCall, known: tuple[PendingCall, ...]) -> PendingCall:
    """Return the call, with a notice if an earlier one for the same may be billed, too."""
    before = _same(call, known)
    if before is None or before.answer or before.status not in ("running", "interrupted"):
        return call
    return call.model_copy(update={"notices": (*(call.notices or ()), ASKED_AGAIN)})


def is_to_be_asked(call: PendingCall) -> bool:
    """Tell whether the call has neither an outcome nor a run that may have one."""
    return call.answer is None and call.response_id is None and call.status != "failed"


def _summing(panel: Panel, known: tuple[PendingCall, ...]) -> PendingCall | None:
    if panel.synthesizer is None:
        return None
    wanted = consensus_changes.call_of(Seat(panel.synthesizer.naming, SYNTHESIS), panel.synthesizer)
    found = _same(wanted, known)
    return found if found and _is_there(found) else None


def _is_there(call: PendingCall) -> bool:
    return call.answer is not None or (call.response_id is not None and call.status != "failed")


def _same(call: PendingCall, known: tuple[PendingCall, ...]) -> PendingCall | None:
    facts = ("provider", "model", "stance", "stance_prompt")
    return next((one for one in known if all(getattr(one, name) == getattr(call, name) for name in facts)), None)


def _is_same_turn(one: PendingTurn, other: PendingTurn) -> bool:
    return (one.question, one.started_at, one.calls) == (other.question, other.started_at, other.calls)
