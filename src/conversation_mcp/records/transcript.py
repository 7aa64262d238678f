"""The messages with the unanswered questions and workflow steps among them, each where it came."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from conversation_mcp.records.attached import hashes_of, named_by
from conversation_mcp.records.models import Conversation, Message, PendingTurn, parse_time
from conversation_mcp.records.workflow_steps import WorkflowStep

Entry = tuple[int, Message | PendingTurn]
Event = tuple[int, Message | PendingTurn | WorkflowStep]


def transcript(conversation: Conversation) -> Iterator[Entry]:
    """Yield the messages with their numbers, and each unanswered question with the number of the message before it.

    The pending question comes last.
    """
    left = placed(conversation)
    for number, message in enumerate(conversation.messages, 1):
        while left and left[0][0] < number:
            yield left.pop(0)
        yield number, message
    yield from left
    if conversation.pending_turn:
        yield len(conversation.messages), conversation.pending_turn


def timeline(conversation: Conversation) -> Iterator[Event]:
    """Yield the transcript with the steps of workflows, each with the number of the message before it.

    Between two messages, the times decide; a step without one comes before the unanswered questions.
    """
    left = placed_steps(conversation)
    for number, entry in transcript(conversation):
        while left and _is_before(left[0], number, entry):
            yield left.pop(0)
        yield number, entry
    yield from left


def placed_steps(conversation: Conversation) -> list[tuple[int, WorkflowStep]]:
    """Return the steps of workflows, each with the number of the message before it; if unknown, the last one."""
    last = len(conversation.messages)
    steps = conversation.workflow_steps or ()
    places = (last if step.after_message is None else min(max(step.after_message, 0), last) for step in steps)
    return sorted(zip(places, steps, strict=True), key=lambda entry: entry[0])


def _is_before(placed_step: tuple[int, WorkflowStep], number: int, entry: Message | PendingTurn) -> bool:
    place, step = placed_step
    if isinstance(entry, Message):
        return place < number
    taken, asked = _time(step.created_at), _time(entry.started_at)
    return place < number or (place == number and (taken is None or asked is None or taken <= asked))


def contents_named_in(conversation: Conversation) -> tuple[str, ...]:
    """Return the hashes of all contents that questions of the conversation name, each once, in order."""
    return hashes_of(named for _, entry in transcript(conversation) for named in named_by(entry))


def placed(conversation: Conversation) -> list[tuple[int, PendingTurn]]:
    """Return the unanswered questions, each with the number of the message after which it was asked.

    If the file does not say it, the times decide; without times, it is the last message.
    """
    turns = conversation.unanswered_turns or ()
    if all(turn.after_message is not None for turn in turns):
        times: list[datetime | None] = []
    else:
        times = [_time(message.created_at) for message in conversation.messages]
    places = ((_place(turn, conversation.messages, times), turn) for turn in turns)
    return sorted(places, key=lambda entry: entry[0])


def _place(turn: PendingTurn, messages: Sequence[Message], times: Sequence[datetime | None]) -> int:
    if turn.after_message is not None:
        return min(max(turn.after_message, 0), len(messages))
    asked = _time(turn.started_at)
    if asked is None:
        return len(messages)
    place = next((place for place, time in enumerate(times) if time and time > asked), len(messages))
    while 0 < place < len(messages) and messages[place].role == "assistant" and messages[place - 1].role == "user":
        place -= 1  # an answer stays with its question
    return place


def _time(text: str | None) -> datetime | None:
    try:
        return parse_time(text or "")
    except ValueError:
        return None
