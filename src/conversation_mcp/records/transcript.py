"""The messages with the unanswered questions among them, each where it was asked."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from conversation_mcp.records.attached import hashes_of, named_by
from conversation_mcp.records.models import Conversation, Message, PendingTurn, parse_time

Entry = tuple[int, Message | PendingTurn]


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
