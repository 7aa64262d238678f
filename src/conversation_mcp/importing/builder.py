"""The conversation to store for one that was found: a new one, or the earlier import with its continuation."""

from datetime import datetime

from conversation_mcp.importing.base import Sourced
from conversation_mcp.records.imported import Imported
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import (
    Conversation,
    ConversationId,
    Message,
    PendingTurn,
    iso,
    parse_time,
)
from conversation_mcp.records.workflow_steps import WorkflowStep


def created_at(found: Sourced, now: datetime) -> datetime:
    """Return when it was started: the time in the source, else that of its first message, else now."""
    return found.created_at or min(_times(found), default=now)


def built(
    found: Sourced, source: str, conversation_id: ConversationId, now: datetime, parent: str | None
) -> Conversation:
    """Return the conversation to store."""
    if found.whole is not None:
        # Under its own id it is known again by that; under another one, only by its origin.
        if found.whole.conversation_id == conversation_id:
            return found.whole
        origin = found.whole.imported or _origin(source, found)
        return found.whole.changed(conversation_id=conversation_id, imported=origin)
    begun = created_at(found, now)
    facts = {
        "title": found.title,
        "parent": {"conversationId": parent} if parent else None,
        "imported": _origin(source, found),
        "pending_turn": found.unanswered[-1] if found.unanswered else None,
        "unanswered_turns": (*found.failed, *found.unanswered[:-1]) or None,
    }
    return Conversation.of(
        conversation_id=conversation_id,
        created_at=iso(begun),
        updated_at=iso(max(begun, found.updated_at or max(_times(found), default=begun))),
        message_count=len(found.messages),
        messages=found.messages,
        memories=found.memories or None,
        **facts,
    )


def _times(found: Sourced) -> list[datetime]:
    if found.whole is not None:  # times of messages may be anything; that of the conversation is valid
        return []
    return [parse_time(message.created_at) for message in found.messages if message.created_at]


def _origin(source: str, found: Sourced) -> Imported:
    return Imported.model_validate({"from": source, "id": found.id})


def holds(stored: Conversation, found: Sourced) -> bool:
    """Tell whether everything that was found is stored already, perhaps with more after it."""
    return (
        _starts_with(stored.messages, found.messages)
        and all(question in _asked(stored) for question in _questions(found))
        and not _are_more(*_both_steps(stored, found))
        and not _new_memories(stored, found)
    )


def is_grown(stored: Conversation, found: Sourced) -> bool:
    """Tell whether what was found continues the stored conversation, in which no question is running now."""
    is_asking = stored.pending_turn is not None and stored.pending_turn.status == "running"
    return not is_asking and _starts_with(found.messages, stored.messages[: _whole(stored, found)])


def grown(stored: Conversation, found: Sourced) -> Conversation:
    """Return the stored conversation with the new messages, the first of which may complete its last answer.

    An unanswered question is removed if it has an answer now, and else kept as unanswered.
    """
    whole = _whole(stored, found)
    added = found.messages[whole:]
    answered = {message.content for message in added if message.role == "user"} - {
        turn.question for turn in found.failed
    }
    waiting = [*(stored.unanswered_turns or ()), *((stored.pending_turn,) if stored.pending_turn else ())]
    new = [turn for turn in _turns(found) if turn.question not in {each.question for each in waiting}]
    kept = [turn for turn in (*waiting, *new) if turn.question not in answered]
    ends_asking = len(_turns(found)) > len(found.failed) and bool(kept)
    return stored.changed(
        messages=(*stored.messages[:whole], *added),
        pending_turn=kept[-1] if ends_asking else None,
        unanswered_turns=tuple(kept[:-1] if ends_asking else kept) or None,
        workflow_steps=_steps(stored, found) or None,
        memories=(*(stored.memories or ()), *_new_memories(stored, found)) or None,
    )


def _new_memories(stored: Conversation, found: Sourced) -> list[Memory]:
    known = {same_text(each.content) for each in stored.memories or ()}
    return [each for each in found.memories if same_text(each.content) not in known]


def _steps(stored: Conversation, found: Sourced) -> tuple[WorkflowStep, ...]:
    """Return the stored steps, continued by those that were found if these begin with them."""
    ours, theirs = _both_steps(stored, found)
    return theirs if _are_more(ours, theirs) else ours


def _both_steps(stored: Conversation, found: Sourced) -> tuple[tuple[WorkflowStep, ...], tuple[WorkflowStep, ...]]:
    return stored.workflow_steps or (), (found.whole and found.whole.workflow_steps) or ()


def _are_more(ours: tuple[WorkflowStep, ...], theirs: tuple[WorkflowStep, ...]) -> bool:
    pairs = zip(ours, theirs, strict=False)
    return len(theirs) > len(ours) and all(
        (one.workflow, one.run, one.step_number, one.findings)
        == (other.workflow, other.run, other.step_number, other.findings)
        for one, other in pairs
    )


def _whole(stored: Conversation, found: Sourced) -> int:
    """Return how many of the stored messages are complete: all, unless the last answer has grown in the source."""
    count = len(stored.messages)
    if 0 < count <= len(found.messages):
        last, now = stored.messages[-1], found.messages[count - 1]
        is_begun = now.content.startswith(last.content) or _stands_for_words(last)
        if last.role == now.role == "assistant" and now.content != last.content and is_begun:
            return count - 1
    return count


def _stands_for_words(said: Message) -> bool:
    """Tell whether a message had no words of its own when it was imported."""
    return said.content == "\n".join(f"({notice})" for notice in said.notices or ())


def _turns(found: Sourced) -> tuple[PendingTurn, ...]:
    if found.whole is None:
        return (*found.failed, *found.unanswered)
    return (*(found.whole.unanswered_turns or ()), *((found.whole.pending_turn,) if found.whole.pending_turn else ()))


def _questions(found: Sourced) -> list[str]:
    return [turn.question for turn in _turns(found)]


def _asked(stored: Conversation) -> set[str]:
    """Return all questions of the stored conversation, answered or not."""
    turns = (*(stored.unanswered_turns or ()), *((stored.pending_turn,) if stored.pending_turn else ()))
    return {turn.question for turn in turns} | {m.content for m in stored.messages if m.role == "user"}


def _starts_with(longer: tuple[Message, ...], shorter: tuple[Message, ...]) -> bool:
    return len(shorter) <= len(longer) and all(
        (one.role, one.content) == (other.role, other.content) for one, other in zip(longer, shorter, strict=False)
    )
