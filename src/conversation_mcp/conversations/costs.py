"""What a conversation has cost: its answers, and the questions that never got one but were charged all the same."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from conversation_mcp.models import Conversation


def charges(data: Mapping[str, Any]) -> Iterator[tuple[str | None, float]]:
    """Yield when and how much was charged, in US dollars, from the data of a file.

    What a branch has from its parent was charged there.
    """
    pending = [data["pendingTurn"]] if data.get("pendingTurn") else []
    own = data["messages"][inherited_count(data) :]
    for at, turns in (("createdAt", own), ("startedAt", [*pending, *(data.get("unansweredTurns") or ())])):
        for turn in turns:
            cost_usd = turn["usage"].get("costUsd") if turn.get("usage") else None
            if cost_usd is not None:
                yield turn.get(at), cost_usd


def inherited_count(data: Mapping[str, Any]) -> int:
    """Return how many messages a branch has from its parent; 0 for what is no branch, whatever an editor wrote."""
    parent: object = data.get("parent")
    count: object = cast("Mapping[str, object]", parent).get("messageCount") if isinstance(parent, dict) else 0
    return count if isinstance(count, int) and count > 0 else 0


def total_cost(data: Mapping[str, Any]) -> float | None:
    """Return the sum of what is known, None if nothing is."""
    costs = [cost_usd for _, cost_usd in charges(data)]
    return sum(costs) if costs else None


def cost_since(conversation: "Conversation", moment: str) -> float:
    """Return what the conversation has cost since the moment (ISO 8601 UTC)."""
    return sum(cost_usd for at, cost_usd in charges(conversation.data()) if at is not None and at >= moment)
