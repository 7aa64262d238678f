"""Merges: new conversations that hold the messages of others, one after the other."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, takewhile
from typing import TypeVar

from conversation_mcp.conversations.recipients import (
    recipients_of_questions,
    whereabouts_of,
    with_recipients,
    with_recipients_of_questions,
)
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.ids import created_at
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn
from conversation_mcp.records.relations import MAX_RELATIONS, Relation
from conversation_mcp.records.transcript import placed, placed_steps
from conversation_mcp.records.workflow_steps import WorkflowStep

QuestionT = TypeVar("QuestionT", Message, PendingTurn)

LEADING = frozenset({"system", "developer"})


def merged(originals: Sequence[Conversation], conversation_id: ConversationId) -> Conversation:
    """Return the first state of a merge: one system text, then the messages of the originals in order, with all facts.

    The title and unknown fields are those of the first original that has them, the tags those of all. Unanswered
    questions are copied without their cost, which counts for the original, as the cost of the messages does. A question
    that is being answered stays with its original, and so do summaries. `parent` names the first original and the
    number of all messages: readers that do not know `parents` then count no cost of these messages twice.

    Raises:
        InvalidInputError: there are not at least two different originals.
    """
    ids = [original.conversation_id for original in originals]
    if len(set(ids)) < len(ids) or len(ids) < 2:  # noqa: PLR2004 -- a merge is of two
        raise InvalidInputError("merging needs at least two different conversations.", field="conversationIds")
    heads = [_head(original) for original in originals]
    is_same = len({_recipients(original) for original in originals}) == 1
    messages_of = with_recipients if is_same else with_recipients_of_questions
    unmoved = [messages_of(original)[len(head) :] for original, head in zip(originals, heads, strict=True)]
    spoken_by = next((place for place, head in enumerate(heads) if head), 0)
    counts = [len(body) + (len(heads[place]) if place == spoken_by else 0) for place, body in enumerate(unmoved)]
    before = accumulate(map(len, unmoved), initial=len(heads[spoken_by]))
    moved = [at - len(head) for at, head in zip(before, heads, strict=False)]
    bodies = ((_renumbered(said, by) for said in body) for body, by in zip(unmoved, moved, strict=True))
    messages = (*heads[spoken_by], *chain.from_iterable(bodies))
    tags = tuple(dict.fromkeys(tag for original in originals for tag in original.tags or ()))
    now = created_at(conversation_id)
    notes = {
        name: note
        for original in reversed(originals)
        for name, note in (original.model_extra or {}).items()
        if name not in Conversation.model_fields
    }
    return originals[0].changed(
        **notes,
        conversation_id=conversation_id,
        created_at=now,
        updated_at=now,
        title=next((original.title for original in originals if original.title), None),
        tags=tags or None,
        archived=None,
        ended_at=None,
        closing_summary=None,
        imported=None,
        parent={"conversationId": ids[0], "messageCount": len(messages)},
        parents=tuple({"conversationId": one, "messageCount": count} for one, count in zip(ids, counts, strict=True)),
        related=_related(originals, ids) or None,
        pending_turn=None,
        summaries=None,
        extractions=None,
        unanswered_turns=tuple(chain.from_iterable(map(_unanswered, originals, moved))) or None,
        workflow_steps=_steps(originals, moved) or None,
        memories=_memories(originals, moved) or None,
        messages=messages,
    )


def _related(originals: Sequence[Conversation], ids: Sequence[str]) -> tuple[Relation, ...]:
    """Return what belongs with any of the originals and is not one of them; nothing is a duplicate of a merge."""
    kept: dict[str, Relation] = {}
    for relation in chain.from_iterable(original.related or () for original in originals):
        if relation.conversation_id not in ids and relation.type != "duplicate":
            kept.setdefault(relation.conversation_id, relation)
    return tuple(kept.values())[:MAX_RELATIONS]


def _memories(originals: Sequence[Conversation], moved: Sequence[int]) -> tuple[Memory, ...]:
    """Return the memories of all, each once; those of messages follow where these have moved."""
    kept: dict[str, Memory] = {}
    for original, by in zip(originals, moved, strict=True):
        for memory in original.memories or ():
            number = memory.message_number
            kept.setdefault(memory.id, memory.model_copy(update={"message_number": number + by}) if number else memory)
    return tuple(kept.values())


def _steps(originals: Sequence[Conversation], moved: Sequence[int]) -> tuple[WorkflowStep, ...]:
    """Return the steps of all originals, with the numbers of their runs and messages as they are in the merge."""
    found: list[WorkflowStep] = []
    for original, by in zip(originals, moved, strict=True):
        runs = max((step.run for step in found), default=0)
        found += (_moved(step, place, by, runs) for place, step in placed_steps(original))
    return tuple(found)


def _moved(step: WorkflowStep, place: int, moved: int, runs: int) -> WorkflowStep:
    changes: dict[str, object] = {"run": step.run + runs, "after_message": max(place + moved, 0)}
    if step.validation and step.validation.message_number:
        number = step.validation.message_number + moved
        changes["validation"] = step.validation.model_copy(update={"message_number": number})
    return step.model_copy(update=changes)


def _recipients(original: Conversation) -> frozenset[str] | None:
    """Return which services outside of this machine have the whole text; None if they have different parts of it."""
    return None if any(recipients_of_questions(original, {})) else frozenset(whereabouts_of(original, {}).outside)


def dropped_texts(originals: Sequence[Conversation]) -> tuple[str, ...]:
    """Return a notice for each original whose system text differs from that of the merge."""
    texts = [tuple(said.content for said in _head(original)) for original in originals]
    kept = next(filter(None, texts), ())
    return tuple(
        f"the system text of {original.conversation_id} is not in the merge, which has one; the original keeps it"
        for original, text in zip(originals, texts, strict=True)
        if text and text != kept
    )


def _head(original: Conversation) -> tuple[Message, ...]:
    return tuple(takewhile(lambda said: said.role in LEADING, original.messages))


def _unanswered(original: Conversation, moved: int) -> Iterator[PendingTurn]:
    """Yield the unanswered questions of an original whose messages are moved by `moved` places."""
    pending, last = original.pending_turn, len(original.messages)
    for place, turn in (*placed(original), *(((last, pending),) if pending else ())):
        if turn.status != "running":
            copy = turn.model_copy(update={"usage": None, "after_message": max(place + moved, 0)})
            copy.model_fields_set.discard("usage")
            yield _renumbered(copy, moved)


def _renumbered(question: QuestionT, moved: int) -> QuestionT:
    """Return the question with the numbers of messages that its files name moved by `moved` places."""
    files = question.files or ()
    if not moved or not any(each.changed_since for each in files):
        return question
    changes = ({"changed_since": each.changed_since + moved} if each.changed_since else {} for each in files)
    numbered = tuple(each.model_copy(update=change) for each, change in zip(files, changes, strict=True))
    return question.model_copy(update={"files": numbered})
