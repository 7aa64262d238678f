"""The facts of a file: what lists show, what they are filtered by, and the texts that are indexed."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from conversation_mcp.clock import parse_time
from conversation_mcp.records.costs import total_cost, total_tokens
from conversation_mcp.records.found import Facet, Indexed, Listed, Pending
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.plain import read_data
from conversation_mcp.records.titles import title_of_data
from conversation_mcp.text import fold, shorten, storable

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
QUESTION_CHARS = 120
FACETS = ("tool", "provider", "model")
UNSEEN_ROLES = frozenset({"system", "developer"})

Data = Mapping[str, Any]


def describe(body: bytes, path: str, conversation_id: "ConversationId") -> Indexed:
    """Describe the bytes of a file.

    Raises:
        ConversationCorruptedError: they are not a conversation.
    """
    return _described(read_data(body, path, conversation_id), conversation_id, len(body))


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
    messages: list[Data] = data["messages"]
    pending: Data = data.get("pendingTurn") or {}
    questions = [message for message in messages if message["role"] == "user"]
    last = pending or (questions[-1] if questions else pending)
    sent, came = total_tokens(data)
    return Listed(
        conversation_id=conversation_id,
        title=title_of_data(data),
        created_at=data["createdAt"],
        updated_at=data["updatedAt"],
        updated_milliseconds=milliseconds_of(data["updatedAt"]),
        message_count=len(messages),
        turn_count=sum(message["role"] == "assistant" for message in messages),
        last_question=_question(last),
        last_tool=last.get("tool"),
        cost_usd=total_cost(data),
        input_tokens=sent,
        output_tokens=came,
        size_bytes=size_bytes,
        pending=cast("Pending", pending.get("status", "running")) if pending else None,
        problem=pending["error"]["message"] if pending.get("error") else None,
        runs_at_provider=bool(pending.get("background") and pending.get("responseId")),
        archived=bool(data.get("archived")),
        tags=_tags(data),
        parent_id=_parent_id(data),
    )


def _described(data: Data, conversation_id: str, size_bytes: int) -> Indexed:
    messages: list[Data] = data["messages"]
    pending: Data = data.get("pendingTurn") or {}
    unanswered: list[Data] = data.get("unansweredTurns") or []
    tags = _tags(data)
    given = {("tag", tag) for tag in tags}
    given |= {(kind, turn.get(kind)) for turn in (*messages, pending, *unanswered) for kind in FACETS}
    given |= {("model", message.get("preset")) for message in messages}
    return Indexed(facts_of(data, conversation_id, size_bytes), frozenset(_facets(given)), _texts(data, tags))


def _tags(data: Data) -> tuple[str, ...]:
    return tuple(storable(tag) for tag in data.get("tags") or ())


def _parent_id(data: Data) -> str | None:
    parent = data.get("parent")
    found = cast("Data", parent).get("conversationId") if isinstance(parent, dict) else None
    return found if isinstance(found, str) and SHAPE.fullmatch(found) else None


def _question(last: Data) -> str | None:
    text = str(last.get("question") or last.get("content") or "")
    return shorten(storable(text[: QUESTION_CHARS * 10]), QUESTION_CHARS) or None


def _facets(given: Iterable[tuple[str, str | None]]) -> Iterator[Facet]:
    for kind, value in given:
        if value:
            yield facet(kind, value)
            if kind == "model":
                yield facet(kind, value.rpartition("/")[2])


def _texts(data: Data, tags: Iterable[str]) -> dict[int, str]:
    """Return the visible messages by their numbers, and under 0 the texts outside of messages."""
    pending: Data = data.get("pendingTurn") or {}
    beside = [data.get("title") or "", *tags, pending.get("question", ""), pending.get("partialText") or ""]
    beside += [turn.get("question", "") for turn in data.get("unansweredTurns") or ()]
    for step in data.get("workflowSteps") or ():
        issues = (issue["description"] for issue in step.get("issues") or ())
        beside += [step["step"], step["findings"], step.get("hypothesis") or "", *issues]
    texts = {
        number: str(message["content"])
        for number, message in enumerate(data["messages"], 1)
        if message["role"] not in UNSEEN_ROLES and message["content"]
    }
    return {0: "\n".join(filter(None, beside)), **texts} if any(beside) else texts
