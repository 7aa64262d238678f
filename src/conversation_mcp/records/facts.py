"""The facts of a file: what lists show, what they are filtered by, and the texts that are indexed."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from conversation_mcp.clock import parse_time
from conversation_mcp.records.costs import all_spent, inherited_count
from conversation_mcp.records.found import COMPLETED, RELATED, Facet, Indexed, Listed, Pending
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.memory_facts import memories_of
from conversation_mcp.records.plain import read_data
from conversation_mcp.records.tally import Tally, given_by
from conversation_mcp.records.titles import pending_questions, title_of
from conversation_mcp.text import fold, shorten, storable

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
QUESTION_CHARS = 120
UNSEEN_ROLES = frozenset({"system", "developer"})

Data = Mapping[str, Any]


def describe(body: bytes, path: str, conversation_id: "ConversationId") -> Indexed:
    """Describe the bytes of a file.

    Raises:
        ConversationCorruptedError: they are not a conversation.
    """
    return described(read_data(body, path, conversation_id), conversation_id, len(body))


def milliseconds_of(time: str) -> int:
    """Return an ISO 8601 time as milliseconds since 1970. Raises ValueError, as `parse_time` does."""
    return (parse_time(time) - EPOCH) // timedelta(milliseconds=1)


def moment_of(milliseconds: int) -> datetime:
    """Return the moment that many milliseconds after 1970, in UTC."""
    return EPOCH + timedelta(milliseconds=milliseconds)


def facet(kind: str, value: str) -> Facet:
    """Return a facet by which conversations are filtered, ignoring case and the form of characters."""
    return kind, fold(value.strip())


def facts_of(data: Data, conversation_id: str, size_bytes: int) -> Listed:
    """Return what lists show of a file, from its data and size."""
    return listed(data, tally_of(data), conversation_id, size_bytes)


def tally_of(data: Data) -> Tally:
    """Add up all messages."""
    return Tally().and_of(data["messages"], inherited_count(data))


def listed(head: Data, tally: Tally, conversation_id: str, size_bytes: int) -> Listed:
    """Return what lists show of a file, from all but its messages and the sums over these."""
    pending: Data = head.get("pendingTurn") or {}
    last = pending or tally.last_question or {}
    spent = all_spent(head, tally.spent)
    return Listed(
        conversation_id=conversation_id,
        title=title_of(head.get("title"), [tally.title, *pending_questions(head)]),
        created_at=head["createdAt"],
        updated_at=head["updatedAt"],
        updated_milliseconds=milliseconds_of(head["updatedAt"]),
        message_count=tally.message_count,
        turn_count=tally.turn_count,
        last_question=_question(last),
        last_tool=last.get("tool"),
        cost_usd=spent.cost_usd,
        input_tokens=spent.sent,
        output_tokens=spent.received,
        size_bytes=size_bytes,
        pending=cast("Pending", pending.get("status", "running")) if pending else None,
        problem=pending["error"]["message"] if pending.get("error") else None,
        runs_at_provider=bool(pending.get("background") and pending.get("responseId")),
        archived=bool(head.get("archived")),
        ended_at=head.get("endedAt") or None,
        tags=_tags(head),
        parent_id=_parent_id(head),
    )


def described(data: Data, conversation_id: str, size_bytes: int) -> Indexed:
    """Describe the data of a file of that size."""
    tally = tally_of(data)
    facts = listed(data, tally, conversation_id, size_bytes)
    texts = texts_of(data["messages"])
    if beside := text_beside(data):
        texts = {0: beside, **texts}
    return Indexed(facts, facets_of(data, tally), texts, tuple(memories_of(data, milliseconds_of)))


def facets_of(head: Data, tally: Tally) -> frozenset[Facet]:
    """Return what a conversation is filtered by, from all but its messages and the sums over these."""
    pending: Data = head.get("pendingTurn") or {}
    unanswered: list[Data] = head.get("unansweredTurns") or []
    given: set[tuple[str, str | None]] = {("parent", _parent_id(head)), *(("tag", tag) for tag in _tags(head))}
    given |= {each for turn in (pending, *unanswered) for each in given_by(turn)}
    given |= {(COMPLETED, COMPLETED)} if head.get("endedAt") else set()
    named = (each["conversationId"] for each in head.get("related") or ())
    given |= {(RELATED, name) for name in named if SHAPE.fullmatch(name)}
    return frozenset(_facets(given | tally.given))


def texts_of(messages: Iterable[Data], first: int = 1) -> dict[int, str]:
    """Return the texts of the visible messages by their numbers, counted from `first`."""
    return {
        number: str(message["content"])
        for number, message in enumerate(messages, first)
        if message["role"] not in UNSEEN_ROLES and message["content"]
    }


def text_in(data: Data, number: int) -> str:
    """Return the text of a visible message, or for 0 those outside of messages; empty if there is none."""
    return texts_of(data["messages"]).get(number, "") if number else text_beside(data)


def text_beside(head: Data) -> str:
    """Return the texts outside of messages, which are indexed as one."""
    pending: Data = head.get("pendingTurn") or {}
    beside = [head.get("title") or "", *_tags(head), head.get("summary") or ""]
    beside += [pending.get("question", ""), pending.get("partialText") or ""]
    beside += [turn.get("question", "") for turn in head.get("unansweredTurns") or ()]
    for step in head.get("workflowSteps") or ():
        issues = (issue["description"] for issue in step.get("issues") or ())
        beside += [step["step"], step["findings"], step.get("hypothesis") or "", *issues]
    return "\n".join(filter(None, beside))


def _tags(data: Data) -> tuple[str, ...]:
    return tuple(storable(tag) for tag in data.get("tags") or ())


def _parent_id(data: Data) -> str | None:
    parent = data.get("parent")
    found = cast("Data", parent).get("conversationId") if isinstance(parent, dict) else None
    return found if isinstance(found, str) and SHAPE.fullmatch(found) else None


def _question(last: Data) -> str | None:
    text = str(last.get("question") or last.get("content") or "")
    # Cut first, because a question may have megabytes.
    return shorten(storable(text[: QUESTION_CHARS * 10]), QUESTION_CHARS) or None


def _facets(given: Iterable[tuple[str, str | None]]) -> Iterator[Facet]:
    for kind, value in given:
        if value:
            yield facet(kind, value)
            if kind == "model":
                # It is also found without the maker, who is only in the names of some providers.
                yield facet(kind, value.rpartition("/")[2])
