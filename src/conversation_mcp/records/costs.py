"""The cost of a conversation: of its answers, of unanswered questions that were charged, and of calls aside."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from conversation_mcp.records.tally import Spent

if TYPE_CHECKING:
    from conversation_mcp.records.models import Conversation

Data = Mapping[str, Any]


def chargeable(data: Data) -> Iterator[tuple[str | None, Data]]:
    """Yield what may have been charged, with its time: messages, then, without role, all else.

    The messages that a branch has from its parent are left out: they were charged there.
    """
    yield from ((turn.get("createdAt"), turn) for turn in data["messages"][inherited_count(data) :])
    yield from _beside_messages(data)


def inherited_count(data: Mapping[str, Any]) -> int:
    """Return how many messages a branch has from its parent; 0 if it is not a branch or `parent` makes no sense."""
    parent: object = data.get("parent")
    count: object = cast("Mapping[str, object]", parent).get("messageCount") if isinstance(parent, dict) else 0
    return count if isinstance(count, int) and count > 0 else 0


def total_cost(data: Data) -> float | None:
    """Return the sum of the reported costs in US dollars; None if none was reported."""
    spent = Spent()
    for _, turn in chargeable(data):
        spent = spent.and_of(turn)
    return spent.cost_usd


def cost_of(conversation: "Conversation") -> float | None:
    """Return the total cost of a conversation that was read as a record."""
    inherited = inherited_count({"parent": conversation.parent})
    pending = (conversation.pending_turn,) if conversation.pending_turn else ()
    aside = (*(conversation.summaries or ()), *(conversation.extractions or ()))
    charged = chain(conversation.messages[inherited:], pending, conversation.unanswered_turns or (), aside)
    costs = [each.usage.cost_usd for each in charged if each.usage and each.usage.cost_usd is not None]
    return sum(costs) if costs else None


def all_spent(data: Data, in_messages: Spent) -> Spent:
    """Return what was used by the messages and by all else that may have been charged."""
    for _, turn in _beside_messages(data):
        in_messages = in_messages.and_of(turn)
    return in_messages


def _beside_messages(data: Data) -> Iterator[tuple[str | None, Data]]:
    pending = [data["pendingTurn"]] if data.get("pendingTurn") else []
    unanswered = [*pending, *(data.get("unansweredTurns") or ())]
    aside = [*(data.get("summaries") or ()), *(data.get("extractions") or ())]
    for at, turns in (("startedAt", unanswered), ("createdAt", aside)):
        yield from ((turn.get(at), turn) for turn in turns)
