"""What a conversation has cost: its answers, and the questions that never got one but were charged all the same."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from conversation_mcp.models import Conversation


Data = Mapping[str, Any]


def chargeable(data: Data) -> Iterator[tuple[str | None, Data]]:
    """Yield what may have been charged, and when: messages, then questions without an answer, which have no role.

    What a branch has from its parent was charged there.
    """
    pending = [data["pendingTurn"]] if data.get("pendingTurn") else []
    own = data["messages"][inherited_count(data) :]
    for at, turns in (("createdAt", own), ("startedAt", [*pending, *(data.get("unansweredTurns") or ())])):
        yield from ((turn.get(at), turn) for turn in turns)


def inherited_count(data: Mapping[str, Any]) -> int:
    """Return how many messages a branch has from its parent; 0 for what is no branch, whatever an editor wrote."""
    parent: object = data.get("parent")
    count: object = cast("Mapping[str, object]", parent).get("messageCount") if isinstance(parent, dict) else 0
    return count if isinstance(count, int) and count > 0 else 0


def charges(data: Data) -> Iterator[tuple[str | None, float]]:
    """Yield when and how much was charged, in US dollars, from the data of a file."""
    for at, turn in chargeable(data):
        cost_usd = turn["usage"].get("costUsd") if turn.get("usage") else None
        if cost_usd is not None:
            yield at, cost_usd


def total_cost(data: Data) -> float | None:
    """Return the sum of what is known, None if nothing is."""
    costs = [cost_usd for _, cost_usd in charges(data)]
    return sum(costs) if costs else None


def cost_since(conversation: "Conversation", moment: str) -> float:
    """Return what the conversation has cost since the moment (ISO 8601 UTC)."""
    return sum(cost_usd for at, cost_usd in charges(conversation.data()) if at is not None and at >= moment)
